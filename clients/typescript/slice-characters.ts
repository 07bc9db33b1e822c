/** Cuts a text by positions as the service counts them, in Unicode code points: those of a citation, a highlight or a page. */
export function sliceCharacters(text: string, { start, end }: { start: number; end: number }): string {
  return [...text].slice(start, end).join('');
}
