import type { Archive } from './archive.ts';
import { type Attachments, emuPerCm } from './attachments.ts';
import { Equation } from './equation.ts';
import { readRelationships } from './package-parts.ts';
import { scanXml } from './scan-xml.ts';
import { ShownParts } from './shown-parts.ts';
import { inFont } from './sign-fonts.ts';
import type { TextBuilder } from './text-builder.ts';

const titles = new Set(['title', 'ctrTitle']);
/** Placeholders on every slide: date, header, footer and number. */
const furniture = new Set(['dt', 'hdr', 'ftr', 'sldNum']);
/** The letters that fonts for signs have of their own: they are shown in the font for signs, the others in that for Latin. */
const privateLetters = /[\uf000-\uf0ff]/g;
const shape = /^(?:p|xdr):(?:sp|grpSp|graphicFrame|pic|cxnSp)$/;

/**
 * Reads a slide, or the drawing of a sheet: text, tables, diagrams and charts. The text of its first placeholder for a title is a heading, and
 * stands first. `chartRows` says whether charts have their numbers, which stand in a sheet anyway. `beside` takes what is not of its text.
 * Returns the area of the largest picture on it.
 */
export async function readDrawing(
  archive: Archive,
  part: string,
  { builder, attachments }: { builder: TextBuilder; attachments: Attachments },
  { chartRows = true } = {},
): Promise<number> {
  const relationships = await readRelationships(archive, part);
  const shown = await ShownParts.read(archive, relationships, attachments);
  attachments.hasComments ||= [...relationships.values()].some(({ type }) => type.endsWith('/comments'));
  let [inPicture, largest] = [false, 0];
  let inText = false;
  // Within the fallback of a newer element, or within a shape that is hidden.
  let unseen = 0;
  const shapes: boolean[] = [];
  let isRaised = false;
  let fonts: { latin?: string | undefined; signs?: string | undefined } = {};
  let [inTitle, titled] = [false, false];
  let inFurniture = false;
  let equation: Equation | undefined;
  let behindEquation = false;
  await scanXml(archive.readText(part), {
    enough: () => builder.full,
    open(name, attributes) {
      const { type = '' } = attributes;
      if (name === 'mc:Fallback') unseen += 1;
      else if (shape.test(name)) shapes.push(false);
      else if (name.endsWith(':cNvPr') && ['1', 'true'].includes(attributes.hidden ?? '') && shapes.at(-1) === false) {
        shapes[shapes.length - 1] = true;
        unseen += 1;
      }
      // A control of a form is drawn by other means, and is shown.
      else if (name === 'a14:compatExt' && shapes.at(-1)) {
        shapes[shapes.length - 1] = false;
        unseen -= 1;
      }
      if (unseen > 0) return;
      shown.write(builder, name, attributes, chartRows);
      if (name === 'p:pic' || name === 'xdr:pic') inPicture = true;
      else if (name === 'a:ext' && inPicture && attributes.cx) {
        const [width, height] = [Number(attributes.cx), Number(attributes.cy)];
        attachments.addPicture(width / emuPerCm, height / emuPerCm);
        largest = Math.max(largest, width * height);
      }
      if (name === 'm:oMath' && !equation) {
        if (behindEquation) builder.add(' ');
        equation = new Equation((text) => builder.add(text));
      }
      equation?.open(name, attributes['m:val']);
      if (name === 'a:t' || name === 'm:t') [inText, behindEquation] = [!inFurniture, false];
      else if (name === 'a:r' || name === 'a:fld') [isRaised, fonts] = [false, {}];
      else if (name === 'a:rPr') isRaised = Number(attributes.baseline ?? 0) > 0;
      else if (name === 'a:latin') fonts.latin = attributes.typeface;
      else if (name === 'a:sym') fonts.signs = attributes.typeface;
      else if (name === 'p:ph' && furniture.has(type)) inFurniture = true;
      else if (name === 'p:ph' && titles.has(type) && !titled) [inTitle, titled] = [true, true];
      else if (name === 'a:br') builder.add('\n');
      else if (name === 'a:tbl') builder.openTable();
    },
    close(name) {
      if (name === 'mc:Fallback' || (shape.test(name) && shapes.pop())) unseen -= 1;
      if (unseen > 0) return;
      if (name === 'p:pic' || name === 'xdr:pic') inPicture = false;
      if (name === 'a:p') behindEquation = false;
      equation?.close(name);
      if (equation?.isOver) [equation, behindEquation] = [undefined, true];
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
      if (!inText || unseen > 0) return;
      const { latin, signs = latin } = fonts;
      (equation ?? builder).add(
        inFont(
          text.replace(privateLetters, (letter) => inFont(letter, signs)),
          latin,
        ),
        isRaised,
      );
    },
  });
  return largest;
}
