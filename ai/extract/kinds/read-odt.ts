import { posix } from 'node:path';
import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import { withoutMarks } from '../outline.ts';
import { Archive, damaged } from './archive.ts';
import { Beside } from './beside.ts';
import { OdtNumbering } from './odt-numbering.ts';
import { localName, scanXml } from './scan-xml.ts';
import { TextBuilder } from './text-builder.ts';

const kind = 'an OpenDocument text';
const manifest = 'META-INF/manifest.xml';
/** Elements outside of the text: comments, deleted text, numbers of notes, readings of words, and descriptions of pictures. */
const skipped = new Set(['office:annotation', 'text:tracked-changes', 'text:note-citation', 'text:ruby-text', 'svg:title', 'svg:desc']);
/** Elements that may be hidden. */
const hideable = new Set(['text:span', 'text:section', 'table:table-row']);
/** Elements that interrupt their paragraph. */
const asides = new Set(['text:note', 'draw:text-box']);

/** A chart, a formula or a sheet within the text. */
const objects = /^([^/]+)\/content\.xml$/;

/**
 * Reads an OpenDocument text: headings and paragraphs with their numbers, tables, charts, formulas and notes. Throws 422
 * `encrypted_document` if it needs a password.
 */
export async function readOdt(
  { bytes }: SourceDocument,
  { maxTextCharacters, maxUploadBytes }: ExtractLimits,
  readEmbedded: ReadEmbedded,
): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  if (!archive.has('mimetype') || !archive.has('content.xml')) throw damaged(kind);
  const type = (await archive.readWhole('mimetype', 200)).toString('latin1').trim();
  if (!type.startsWith('application/vnd.oasis.opendocument.text')) throw damaged(kind);
  if (archive.has(manifest)) await refuseEncrypted(archive);
  const beside = new Beside();
  const shown = new Map<string, string>();
  for (const part of archive.names(objects)) {
    const builder = new TextBuilder(maxTextCharacters);
    await scanContent(archive, part, { builder, beside, shown: new Map(), numbering: new OdtNumbering() });
    shown.set(posix.dirname(part), builder.finish().text);
  }
  const builder = new TextBuilder(maxTextCharacters);
  await scanContent(archive, 'content.xml', { builder, beside, shown, numbering: await OdtNumbering.read(archive) });
  return { ...builder.finish(), pages: null, ...(await beside.read(archive, readEmbedded, maxUploadBytes)) };
}

interface Context {
  builder: TextBuilder;
  beside: Beside;
  /** The texts of the objects that it may show, by their names. */
  shown: ReadonlyMap<string, string>;
  numbering: OdtNumbering;
}

/** A paragraph that is open, with its level if it is a heading, and its number as long as it has no text. */
interface Paragraph {
  level: number | undefined;
  number: string;
}

async function scanContent(archive: Archive, part: string, { builder, beside, shown, numbering }: Context): Promise<void> {
  const open: Paragraph[] = [];
  const openParagraph = (attributes: Record<string, string>, level: number | undefined) =>
    open.push({ level, number: numbering.next(attributes, level) });
  const add = (text: string) => {
    const paragraph = open.at(-1);
    if (!paragraph || text === '') return;
    builder.add(paragraph.number === '' ? text : `${paragraph.number} ${text.trimStart()}`);
    paragraph.number = '';
  };
  let hidden = 0;
  const styles = new HiddenStyles();
  await scanXml(archive.readText(part), {
    enough: () => builder.full,
    open(name, attributes) {
      if (name === 'office:annotation') beside.hasComments = true;
      if (skipped.has(name) || styles.hides(name, attributes)) hidden += 1;
      if (hidden > 0) return;
      // That of a formula has it as it was typed.
      if (isFormula(name)) open.push({ level: undefined, number: '' });
      else if (name === 'text:p') openParagraph(attributes, undefined);
      else if (name === 'text:h') openParagraph(attributes, levelOf(attributes));
      else if (name === 'text:s') add(' ');
      else if (name === 'text:tab') add('\t');
      else if (name === 'text:line-break') add('\n');
      else if (name === 'table:table') builder.openTable();
      else if (asides.has(name)) {
        builder.openAside();
        numbering.openAside();
      } else if (name === 'draw:object' || name === 'draw:object-ole') {
        const object = posix.normalize(attributes['xlink:href'] ?? '');
        const text = shown.get(object);
        if (text === undefined) beside.addObject(archive.has(object) ? object : undefined, undefined);
        else writeAside(builder, text);
      } else if (name === 'text:number') Object.assign(open.at(-1) ?? {}, { number: '' });
      else numbering.open(name, attributes);
    },
    close(name) {
      if (skipped.has(name) || styles.ends(name)) hidden -= 1;
      if (hidden > 0) return;
      if (name === 'text:p' || name === 'text:h' || isFormula(name)) builder.endParagraph(open.pop()?.level);
      else if (name === 'table:table-cell') builder.endCell();
      else if (name === 'table:table-row') builder.endRow();
      else if (name === 'table:table') builder.closeTable();
      else if (asides.has(name)) {
        builder.closeAside();
        numbering.closeAside();
      } else if (name === 'text:number') add(' ');
      else numbering.close(name);
    },
    text(text) {
      // Line ends within a paragraph belong to the file, not to the text.
      if (hidden === 0) add(text.replace(/\s+/g, ' '));
    },
  });
}

const isFormula = (name: string) => localName(name) === 'annotation' && name !== 'office:annotation';

function writeAside(builder: TextBuilder, text: string): void {
  builder.openAside();
  for (const paragraph of text.split('\n\n')) {
    builder.add(withoutMarks(paragraph));
    builder.endParagraph();
  }
  builder.closeAside();
}

/** Knows which stretches of text, sections and rows are hidden. */
class HiddenStyles {
  readonly #names = new Set<string | undefined>();
  #defined: string | undefined;
  /** Those that are open, and whether each is hidden. */
  readonly #open: boolean[] = [];

  /** Whether a beginning element hides its contents. */
  hides(name: string, attributes: Record<string, string>): boolean {
    if (name === 'style:style') this.#defined = attributes['style:name'];
    else if (name === 'style:text-properties' && attributes['text:display'] === 'none') this.#names.add(this.#defined);
    if (!hideable.has(name)) return false;
    const isHidden = attributes['text:display'] === 'none' || attributes['table:visibility'] === 'collapse';
    this.#open.push(isHidden || (name === 'text:span' && this.#names.has(attributes['text:style-name'])));
    return this.#open.at(-1) === true;
  }

  /** Whether an ending element has hidden its contents. */
  ends(name: string): boolean {
    return hideable.has(name) && this.#open.pop() === true;
  }
}

function levelOf({ 'text:outline-level': level }: Record<string, string>): number {
  return level !== undefined && /^[1-9]\d?$/.test(level) ? Number(level) : 1;
}

function refuseEncrypted(archive: Archive): Promise<void> {
  return scanXml(archive.readText(manifest), {
    open(name) {
      if (name.endsWith('encryption-data')) throw new ServiceError(422, 'encrypted_document', 'The document opens only with a password.');
    },
  });
}
