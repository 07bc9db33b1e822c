import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive } from './archive.ts';
import { findMainPart, readRelationships, referredPart, targetOfType } from './package-parts.ts';
import { readDrawing } from './read-drawing.ts';
import { localName, scanXml } from './scan-xml.ts';
import { noticesOfUnread } from './shown-parts.ts';
import { TextBuilder } from './text-builder.ts';

const kind = 'a PowerPoint presentation';

/** Reads the slides of a presentation in their order; each counts as a page. Throws 413 `too_many_pages` as for a PDF. */
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
  let noted = 0;
  for (const slide of slides) {
    if (builder.full) break;
    unread.push(...(await readDrawing(archive, slide, builder)));
    if (await hasNotes(archive, slide)) noted += 1;
    builder.endPage();
  }
  if (noted > 0) unread.push(`the notes of ${noted === 1 ? '1 slide' : `${noted} slides`}`);
  return { ...builder.finish(), pages: slides.length, notices: noticesOfUnread(unread) };
}

async function hasNotes(archive: Archive, slide: string): Promise<boolean> {
  const part = targetOfType(await readRelationships(archive, slide), 'notesSlide');
  if (part === undefined) return false;
  const notes = new TextBuilder(1);
  await readDrawing(archive, part, notes);
  return notes.finish().text !== '';
}
