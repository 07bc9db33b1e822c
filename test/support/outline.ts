/** The outline of a text without pages and headings. */
export const noOutline = { characters: 0, pages: null, headings: [] };
