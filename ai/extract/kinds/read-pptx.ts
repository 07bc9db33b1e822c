import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive } from './archive.ts';
import { findMainPart, readRelationships, referredPart, targetOfType } from './package-parts.ts';
import { readDrawing } from './read-drawing.ts';
import { localName, scanXml } from './scan-xml.ts';
import { noticesOfUnread } from './shown-parts.ts';
import { TextBuilder } from './text-builder.ts';

const kind = 'a PowerPoint presentation';

/** Reads the slides of a presentation in their order, each with its notes; each counts as a page. Throws 413 `too_many_pages` as for a PDF. */
export async function readPptx({ bytes }: SourceDocument, { maxTextCharacters, maxPdfPages }: ExtractLimits): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(archive, /presentationml\.(?:presentation|slideshow|template)\.main\+xml$/, kind);
  const relationships = await readRelationships(archive, main);
  const slides: string[] = [];
  await scanXml(archive.readText(main), {
    open(name, attributes) {
      const target = localName(name) === 'sldId' ? referredPart(relationships, attributes) : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  if (slides.length > maxPdfPages) {
    throw new ServiceError(413, 'too_many_pages', `The presentation has ${slides.length} slides; at most ${maxPdfPages} are read.`);
  }
  const builder = new TextBuilder(maxTextCharacters);
  const unread: string[] = [];
  for (const slide of slides) {
    if (builder.full) break;
    unread.push(...(await readDrawing(archive, slide, builder)));
    await readNotes(archive, slide, builder, maxTextCharacters);
    builder.endPage();
  }
  return { ...builder.finish(), pages: slides.length, notices: noticesOfUnread(unread) };
}

/** Adds the notes of a slide, below a heading. */
async function readNotes(archive: Archive, slide: string, builder: TextBuilder, maxCharacters: number): Promise<void> {
  const part = targetOfType(await readRelationships(archive, slide), 'notesSlide');
  if (part === undefined) return;
  const notes = new TextBuilder(maxCharacters);
  await readDrawing(archive, part, notes);
  const { text } = notes.finish();
  if (text === '') return;
  builder.add('Notes');
  builder.endParagraph(2);
  builder.add(text);
  builder.endParagraph();
}
