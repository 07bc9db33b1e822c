import { posix } from 'node:path';
import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import { Archive, damaged } from '../office/archive.ts';
import { Attachments } from '../office/attachments.ts';
import { MathMl } from '../office/math-ml.ts';
import { putAround } from '../office/put-around.ts';
import { localName, scanXml } from '../office/scan-xml.ts';
import { inFont } from '../office/sign-fonts.ts';
import { TextBuilder } from '../office/text-builder.ts';
import { withoutMarks } from '../outline.ts';
import { OdtNumbering } from './odt-numbering.ts';
import { OdtStyles } from './odt-styles.ts';

const kind = 'an OpenDocument text';
const manifest = 'META-INF/manifest.xml';
/** Elements outside of the text: comments, deleted text, numbers of notes, readings of words, and descriptions of pictures. */
const skipped = new Set(['office:annotation', 'text:tracked-changes', 'text:note-citation', 'text:ruby-text', 'svg:title', 'svg:desc']);
/** Elements that interrupt their paragraph: notes, boxes of text, and shapes with text in them. */
const asides = /^(?:text:note|draw:(?:text-box|custom-shape|rect|ellipse|circle|caption|polygon|path|(?:poly)?line|connector))$/;
const header = /^style:header(?:-first|-left)?$/;
const footer = /^style:footer(?:-first|-left)?$/;

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
  const attachments = new Attachments();
  const shown = new Map<string, string>();
  const styles = new OdtStyles();
  const read = async (part: string, numbering = new OdtNumbering(), within?: RegExp) => {
    const builder = new TextBuilder(maxTextCharacters);
    await scanContent(archive, part, { builder, attachments, shown, styles, numbering, within });
    return builder.finish();
  };
  for (const part of archive.names(objects)) shown.set(posix.dirname(part), (await read(part)).text || (await readFormula(archive, part)));
  // The styles come first: they say what is hidden in the content.
  const [headers, footers] = archive.has('styles.xml')
    ? [await read('styles.xml', undefined, header), await read('styles.xml', undefined, footer)]
    : [];
  const found = await read('content.xml', await OdtNumbering.read(archive));
  attachments.noticePictures(found.text.length);
  const text = putAround(found.text, headers?.text ?? '', footers?.text ?? '');
  return { ...found, text, pages: null, ...(await attachments.read(archive, readEmbedded, maxUploadBytes)) };
}

interface Context {
  builder: TextBuilder;
  attachments: Attachments;
  /** The texts of the objects that it may show, by their names. */
  shown: ReadonlyMap<string, string>;
  styles: OdtStyles;
  numbering: OdtNumbering;
  /** The only elements that are read; all are if it is absent. */
  within?: RegExp | undefined;
}

/** A paragraph that is open, with its level if it is a heading, and its number as long as it has no text. */
interface Paragraph {
  level: number | undefined;
  number: string;
}

async function scanContent(
  archive: Archive,
  part: string,
  { builder, attachments, shown, styles, numbering, within }: Context,
): Promise<void> {
  const open: Paragraph[] = [];
  const openParagraph = (attributes: Record<string, string>, level: number | undefined) =>
    open.push({ level, number: numbering.next(attributes, level) });
  const add = (text: string) => {
    const paragraph = open.at(-1);
    if (!paragraph || text === '') return;
    builder.add(paragraph.number === '' ? text : `${paragraph.number} ${text.trimStart()}`, styles.isRaised);
    paragraph.number = '';
  };
  let hidden = within ? 1 : 0;
  let frame: Record<string, string> = {};
  await scanXml(archive.readText(part), {
    enough: () => builder.full,
    open(name, attributes) {
      if (within?.test(name)) hidden -= 1;
      if (name === 'office:annotation') attachments.hasComments = true;
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
      else if (name === 'draw:frame') frame = attributes;
      else if (name === 'draw:image') {
        attachments.addPicture(toCm(frame['svg:width']), toCm(frame['svg:height']));
        // Another one in this frame shows the same.
        frame = {};
      } else if (asides.test(name)) {
        builder.openAside();
        numbering.openAside();
      } else if (name === 'draw:object' || name === 'draw:object-ole') {
        // Attachments it stands a picture of it.
        frame = {};
        // Without the slash at its end.
        const object = posix.join(attributes['xlink:href'] ?? '', '.');
        const text = shown.get(object);
        if (text) writeAside(builder, text);
        else attachments.addObject(archive.has(object) ? object : undefined, undefined);
      } else if (name === 'text:number') Object.assign(open.at(-1) ?? {}, { number: '' });
      else numbering.open(name, attributes);
    },
    close(name) {
      if (skipped.has(name) || styles.ends(name)) hidden -= 1;
      if (within?.test(name)) hidden += 1;
      if (hidden > 0) return;
      if (name === 'text:p' || name === 'text:h' || isFormula(name)) builder.endParagraph(open.pop()?.level);
      else if (name === 'table:table-cell') builder.endCell();
      else if (name === 'table:covered-table-cell') builder.passColumns(1);
      else if (name === 'table:table-row') builder.endRow();
      else if (name === 'table:table') builder.closeTable();
      else if (asides.test(name)) {
        builder.closeAside();
        numbering.closeAside();
      } else if (name === 'text:number') add(' ');
      else numbering.close(name);
    },
    text(text) {
      // Line ends within a paragraph belong to the file, not to the text.
      if (hidden === 0) add(inFont(text.replace(/\s+/g, ' '), styles.font));
    },
  });
}

/** Reads a formula that does not say how it was typed; '' if it is none. */
async function readFormula(archive: Archive, part: string): Promise<string> {
  let shown = '';
  const math = new MathMl((text) => {
    shown += text;
  });
  let inMath = false;
  await scanXml(archive.readText(part), {
    open(name) {
      inMath ||= localName(name) === 'math';
      math.open(localName(name));
    },
    close: (name) => math.close(localName(name)),
    text: (text) => inMath && math.add(text),
  });
  math.end();
  return shown;
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

/** A length such as `6.5in`; 0 for one in another unit. */
function toCm(length = ''): number {
  const unit = { cm: 1, mm: 0.1, in: 2.54, pt: 2.54 / 72 }[length.slice(-2)];
  return unit === undefined ? 0 : Number.parseFloat(length) * unit;
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
