/** The local sentence model as the index of a workspace names it. */
export const localE5 = { model: 'local-multilingual-e5-small', dimensions: 384 };
