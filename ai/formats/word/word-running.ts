import { type Relationship, referredPart } from '../office/package-parts.ts';
import { putAround } from '../office/put-around.ts';

type Relationships = ReadonlyMap<string, Relationship>;

/** The headers and footers of a Word document: a letter may have its sender and its bank account only there. */
export class RunningParts {
  readonly #references: { name: string; attributes: Record<string, string> }[] = [];
  #hasFirst = false;

  /** Takes an element of the document. */
  open(name: string, attributes: Record<string, string>): void {
    if (name === 'w:headerReference' || name === 'w:footerReference') this.#references.push({ name, attributes });
    // Word keeps the header of the first page when it is not shown any more.
    else if (name === 'w:titlePg') this.#hasFirst ||= !['0', 'false', 'off'].includes(attributes['w:val'] ?? '');
  }

  /** Puts the headers before a text, and the footers behind it: each line once, and none that the text has itself. */
  async around(text: string, relationships: Relationships, read: (part: string) => Promise<string>): Promise<string> {
    const parts = { 'w:headerReference': new Set<string>(), 'w:footerReference': new Set<string>() };
    for (const { name, attributes } of this.#references) {
      const part = referredPart(relationships, attributes);
      if (part !== undefined && (attributes['w:type'] !== 'first' || this.#hasFirst)) parts[name as keyof typeof parts].add(part);
    }
    const readAll = async (some: Set<string>) => {
      const texts: string[] = [];
      for (const part of some) texts.push(await read(part));
      return texts.join('\n\n');
    };
    return putAround(text, await readAll(parts['w:headerReference']), await readAll(parts['w:footerReference']));
  }
}
