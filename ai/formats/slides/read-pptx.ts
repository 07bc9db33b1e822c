import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import { namePages } from '../notice.ts';
import { Archive } from '../office/archive.ts';
import { Attachments } from '../office/attachments.ts';
import { findMainPart, readRelationships, referredPart, targetOfType } from '../office/package-parts.ts';
import { readDrawing } from '../office/read-drawing.ts';
import { localName, scanXml } from '../office/scan-xml.ts';
import { TextBuilder } from '../office/text-builder.ts';

const kind = 'a PowerPoint presentation';
/** A picture that covers more of a slide with less text beside it may be a picture of text. */
const pictureShare = 0.5;
const minLetters = 150;

/** Reads the slides of a presentation in their order, each with its notes; each counts as a page. Throws 413 `too_many_pages` as for a PDF. */
export async function readPptx(
  { bytes }: SourceDocument,
  { maxTextCharacters, maxPdfPages, maxUploadBytes }: ExtractLimits,
  readEmbedded: ReadEmbedded,
): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(
    archive,
    /(?:presentationml|ms-powerpoint)\.(?:presentation|slideshow|template)\.(?:macroEnabled\.)?main\+xml$/,
    kind,
  );
  const relationships = await readRelationships(archive, main);
  const slides: string[] = [];
  let area = Number.POSITIVE_INFINITY;
  await scanXml(archive.readText(main), {
    open(name, attributes) {
      if (localName(name) === 'sldSz') area = Number(attributes.cx) * Number(attributes.cy);
      const target = localName(name) === 'sldId' ? referredPart(relationships, attributes) : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  if (slides.length > maxPdfPages) {
    throw new ServiceError(413, 'too_many_pages', `The presentation has ${slides.length} slides; at most ${maxPdfPages} are read.`);
  }
  const builder = new TextBuilder(maxTextCharacters);
  const attachments = new Attachments();
  const pictures: number[] = [];
  for (const [index, slide] of slides.entries()) {
    if (builder.full) break;
    const before = builder.length;
    const largest = await readDrawing(archive, slide, { builder, attachments });
    if (largest > area * pictureShare && builder.length - before < minLetters) pictures.push(index);
    await readNotes(archive, slide, { builder, attachments }, maxTextCharacters);
    builder.endPage();
  }
  if (pictures.length > 0) attachments.unread.push(`text in the pictures that fill ${namePages(pictures).toLowerCase()}`);
  return { ...builder.finish(), pages: slides.length, ...(await attachments.read(archive, readEmbedded, maxUploadBytes)) };
}

/** Adds the notes of a slide, below a heading. */
async function readNotes(
  archive: Archive,
  slide: string,
  { builder, attachments }: { builder: TextBuilder; attachments: Attachments },
  maxCharacters: number,
): Promise<void> {
  const part = targetOfType(await readRelationships(archive, slide), 'notesSlide');
  if (part === undefined) return;
  const notes = new TextBuilder(maxCharacters);
  await readDrawing(archive, part, { builder: notes, attachments });
  const { text } = notes.finish();
  if (text === '') return;
  builder.add('Notes');
  builder.endParagraph(2);
  builder.add(text);
  builder.endParagraph();
}
