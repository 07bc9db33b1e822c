const marks = /[\\`*_[\]<>&~|]/g;
const lineMark = /^([^\S\r\n\u2028\u2029]*)([#+=-]|\d+(?=[.)]))/gm;
/** Some front ends make links of what only looks like an address, escaped or not. A word joiner, which nobody sees, keeps them from it. */
const address = /(?<=[a-z]:)(?=[/\\])|(?<=\bwww)(?=\.)|(?<=\S)(?=@)|(?<=\b(?:mailto|xmpp):)(?=\S)/gi;

/** A text as Markdown that reads as the text itself: nothing in it is a link, a picture, or any other mark. */
export function escapeMarkdown(text: string): string {
  const lines = text.replace(/^[ \t]+/gm, '').replace(marks, '\\$&');
  return lines
    .replace(lineMark, (_, space: string, mark: string) => (/\d/.test(mark) ? `${space}${mark}\u2060` : `${space}\\${mark}`))
    .replace(address, '\u2060');
}
