/** How many characters of a name a mail shows: enough to recognize it, too few to advertise with. */
const maxQuoted = 60;

/**
 * A name as a mail shows it, in quotes. A line break could add headers or text to the mail, and what looks like an address of the web or
 * of mail would become a link.
 */
export function quoteName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Zl}\p{Zp}“”"]+/gu, ' ').replace(/(?<=\S)[.．。｡:/\\@＠]+(?=\S)/gu, ' ');
  const characters = Array.from(line.trim());
  return `“${characters.length > maxQuoted ? `${characters.slice(0, maxQuoted).join('')}…` : characters.join('')}”`;
}
