import { collapse, withoutMarks } from '../outline.ts';

/** No document that a person has written has more. Each is looked for in the whole text. */
const maxParagraphs = 300;

/** Puts headers before a text, and footers behind it: each paragraph once, and none that the text has itself. */
export function putAround(text: string, headers: string, footers: string): string {
  let said = collapse(withoutMarks(text));
  const leaveOutSaid = (paragraphs: string) =>
    [...new Set(withoutMarks(paragraphs).split('\n\n'))].slice(0, maxParagraphs).filter((paragraph) => {
      const words = collapse(paragraph);
      // A number of a page says nothing.
      if (!/\p{L}/u.test(words) || said.includes(words)) return false;
      said += `\n${words}`;
      return true;
    });
  return [...leaveOutSaid(headers), text, ...leaveOutSaid(footers)].filter((part) => part !== '').join('\n\n');
}
