import { collapse, withoutMarks } from '../outline.ts';

/** Puts headers before a text, and footers behind it: each paragraph once, and none that the text has itself. */
export function putAround(text: string, headers: string, footers: string): string {
  let said = collapse(withoutMarks(text));
  const leaveOutSaid = (paragraphs: string) =>
    withoutMarks(paragraphs)
      .split('\n\n')
      .filter((paragraph) => {
        const words = collapse(paragraph);
        // A number of a page says nothing.
        if (!/\p{L}/u.test(words) || said.includes(words)) return false;
        said += `\n${words}`;
        return true;
      });
  return [...leaveOutSaid(headers), text, ...leaveOutSaid(footers)].filter((part) => part !== '').join('\n\n');
}
