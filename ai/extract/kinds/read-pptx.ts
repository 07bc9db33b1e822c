import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive } from './archive.ts';
import { findMainPart, readRelationships, referredPart } from './package-parts.ts';
import { localName, scanXml } from './scan-xml.ts';
import { TextBuilder } from './text-builder.ts';

const kind = 'a PowerPoint presentation';
const titles = new Set(['title', 'ctrTitle']);
/** Placeholders on every slide: date, footer and number. */
const furniture = new Set(['dt', 'ftr', 'sldNum']);

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
  for (const slide of slides) {
    if (builder.full) break;
    await readSlide(archive, slide, builder);
    builder.endPage();
  }
  return { ...builder.finish(), pages: slides.length };
}

/** Reads a slide; the text of its first placeholder for a title is a heading, and stands first. */
async function readSlide(archive: Archive, slide: string, builder: TextBuilder): Promise<void> {
  let inText = false;
  // The fallback of a newer element.
  let fallbacks = 0;
  let [inTitle, titled] = [false, false];
  let inFurniture = false;
  await scanXml(archive.readText(slide), {
    enough: () => builder.full,
    open(name, { type = '' }) {
      if (name === 'mc:Fallback') fallbacks += 1;
      if (fallbacks > 0) return;
      if (name === 'a:t' || name === 'm:t') inText = !inFurniture;
      else if (name === 'p:ph' && furniture.has(type)) inFurniture = true;
      else if (name === 'p:ph' && titles.has(type) && !titled) [inTitle, titled] = [true, true];
      else if (name === 'a:br') builder.add('\n');
      else if (name === 'a:tbl') builder.openTable();
    },
    close(name) {
      if (name === 'mc:Fallback') fallbacks -= 1;
      if (fallbacks > 0) return;
      if (name === 'a:t' || name === 'm:t') inText = false;
      else if (name === 'a:p' && inTitle) builder.add('\n');
      else if (name === 'a:p') builder.endParagraph();
      else if (name === 'p:sp' && inTitle) {
        inTitle = false;
        builder.endTitle();
      } else if (name === 'p:sp') inFurniture = false;
      else if (name === 'a:tc') builder.endCell();
      else if (name === 'a:tr') builder.endRow();
      else if (name === 'a:tbl') builder.closeTable();
    },
    text(text) {
      if (inText && fallbacks === 0) builder.add(text);
    },
  });
}
