import { posix } from 'node:path';
import { ServiceError } from '../../service-error.ts';
import type { RawText } from '../document.ts';
import { withoutMarks } from '../outline.ts';
import type { Archive } from './archive.ts';
import type { Attachments } from './attachments.ts';
import { type Relationship, referredPart } from './package-parts.ts';
import { readChart } from './read-chart.ts';
import { scanXml } from './scan-xml.ts';
import type { TextBuilder } from './text-builder.ts';

/** What stands in a part that is shown within another one: paragraphs, and then the rows of a table. */
interface ShownPart {
  paragraphs: string[];
  rows: string[][];
}

type Relationships = ReadonlyMap<string, Relationship>;

/** Reads a part that is put into a document as it is; undefined if it cannot be read. */
export type ChunkReader = (archive: Archive, part: string) => Promise<RawText | undefined>;

/** The diagrams and charts that a part of an Office document shows, and the documents that are put into it, by their names in the archive. */
export class ShownParts {
  readonly #relationships: Relationships;
  readonly #attachments: Attachments;
  readonly #parts = new Map<string, ShownPart>();

  private constructor(relationships: Relationships, attachments: Attachments) {
    this.#relationships = relationships;
    this.#attachments = attachments;
  }

  /** Reads the parts. `beside` takes the objects of other programs that are shown, and what cannot be read. */
  static async read(
    archive: Archive,
    relationships: Relationships,
    attachments: Attachments,
    readChunk?: ChunkReader,
  ): Promise<ShownParts> {
    const shown = new ShownParts(relationships, attachments);
    for (const { target, type } of relationships.values()) {
      if (/\/chart(?:Ex)?$/.test(type)) shown.#parts.set(target, await readChart(archive, target));
      else if (type.endsWith('/diagramData')) shown.#parts.set(target, await readDiagram(archive, target));
      else if (readChunk && type.endsWith('/aFChunk')) await shown.#readChunk(archive, target, readChunk);
    }
    return shown;
  }

  /** Writes the part that an element shows, if it is one that shows a part. `rows` says whether its numbers stand nowhere else. */
  write(builder: TextBuilder, name: string, attributes: Record<string, string>, rows = true): void {
    if (name === 'o:OLEObject' || name === 'p:oleObj')
      this.#attachments.addObject(referredPart(this.#relationships, attributes), attributes.ProgID ?? attributes.progId);
    const attribute = attributeOf(name);
    const target = attribute && referredPart(this.#relationships, attributes, attribute);
    const part = target === undefined ? undefined : this.#parts.get(target);
    if (!part) return;
    builder.openAside();
    for (const paragraph of part.paragraphs) {
      builder.add(paragraph);
      builder.endParagraph();
    }
    if (rows) writeRows(builder, part.rows);
    builder.closeAside();
  }

  async #readChunk(archive: Archive, target: string, readChunk: ChunkReader): Promise<void> {
    const raw = await readChunk(archive, target).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status === 422) return undefined;
      throw error;
    });
    if (raw === undefined) this.#attachments.unread.push(`the file ${posix.basename(target)}`);
    else {
      this.#attachments.add(raw);
      this.#parts.set(target, { paragraphs: [withoutMarks(raw.text)], rows: [] });
    }
  }
}

/** The attribute by which an element names the part that it shows. */
function attributeOf(name: string): string | undefined {
  if (name === 'dgm:relIds') return 'dm';
  return name === 'c:chart' || name === 'cx:chart' || name === 'w:altChunk' ? 'id' : undefined;
}

function writeRows(builder: TextBuilder, rows: string[][]): void {
  builder.openTable();
  for (const row of rows) {
    for (const cell of row) {
      builder.add(cell);
      builder.endCell();
    }
    builder.endRow();
  }
  builder.closeTable();
}

/** The texts of a diagram (SmartArt), in the order of its list. */
async function readDiagram(archive: Archive, part: string): Promise<ShownPart> {
  const paragraphs: string[] = [];
  let [line, inText] = ['', false];
  await scanXml(archive.readText(part), {
    open(name) {
      if (name === 'a:t') inText = true;
      else if (name === 'a:br') line += '\n';
    },
    close(name) {
      if (name === 'a:t') inText = false;
      else if (name === 'a:p') {
        if (line.trim() !== '') paragraphs.push(line);
        line = '';
      }
    },
    text(text) {
      if (inText) line += text;
    },
  });
  return { paragraphs, rows: [] };
}
