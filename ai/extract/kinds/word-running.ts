import { collapse, withoutMarks } from '../outline.ts';
import { type Relationship, referredPart } from './package-parts.ts';

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
    const lines = { 'w:headerReference': [] as string[], 'w:footerReference': [] as string[] };
    const parts = new Map<string, keyof typeof lines>();
    for (const { name, attributes } of this.#references) {
      const part = referredPart(relationships, attributes);
      if (part !== undefined && (attributes['w:type'] !== 'first' || this.#hasFirst)) parts.set(part, name as keyof typeof lines);
    }
    let said = collapse(withoutMarks(text));
    for (const [part, name] of parts) {
      for (const line of withoutMarks(await read(part)).split('\n\n')) {
        const words = collapse(line);
        // A number of a page says nothing.
        if (!/\p{L}/u.test(words) || said.includes(words)) continue;
        lines[name].push(line);
        said += `\n${words}`;
      }
    }
    return [...lines['w:headerReference'], text, ...lines['w:footerReference']].filter((part) => part !== '').join('\n\n');
  }
}
