import { posix } from 'node:path';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive } from './archive.ts';
import { findMainPart, readRelationships, targetOfType } from './package-parts.ts';
import { scanXml } from './scan-xml.ts';
import { TextBuilder } from './text-builder.ts';
import { type HeadingLevels, readHeadingLevels, toLevel } from './word-styles.ts';

const kind = 'a Word document';
const notes = ['footnotes', 'endnotes'];
/** Elements to skip: deleted text, the former position of moved text, readings of words, and fallbacks of newer elements. */
const skipped = new Set(['w:del', 'w:moveFrom', 'w:rt', 'mc:Fallback']);
/** How a paragraph or a run was formatted before it was changed. */
const changed = new Set(['w:pPrChange', 'w:rPrChange']);

/** Reads a Word document: paragraphs, equations, tables, then footnotes and endnotes; no headers and footers, and nothing that is hidden or deleted. */
export async function readDocx({ bytes }: SourceDocument, { maxTextCharacters }: ExtractLimits): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  const main = await findMainPart(
    archive,
    /wordprocessingml\.(?:document|template)\.main\+xml$|ms-word\.document\.macroEnabled\.main\+xml$/,
    kind,
  );
  const builder = new TextBuilder(maxTextCharacters);
  const relationships = await readRelationships(archive, main);
  const partOf = (name: string) => targetOfType(relationships, name) ?? posix.join(posix.dirname(main), `${name}.xml`);
  const parts = [main, ...notes.map(partOf).filter((part) => archive.has(part))];
  const levels = await readHeadingLevels(archive, partOf('styles'));
  for (const part of parts) await readWordPart(archive, part, { builder, levels });
  return { ...builder.finish(), pages: null };
}

async function readWordPart(
  archive: Archive,
  part: string,
  { builder, levels }: { builder: TextBuilder; levels: HeadingLevels },
): Promise<void> {
  let inText = false;
  /** The paragraphs that are open, with the level of those that are headings. */
  const paragraphs: (number | undefined)[] = [];
  /** The former properties of a changed paragraph or run. */
  let changes = 0;
  const setLevel = (level: number | undefined) => {
    if (changes === 0 && paragraphs.length > 0) paragraphs[paragraphs.length - 1] = level;
  };
  let hidden = 0;
  /** The runs that are open, and whether each is formatted as hidden. */
  const runs: boolean[] = [];
  const add = (text: string) => {
    if (!runs.includes(true)) builder.add(text);
  };
  // That of the sign that ends a paragraph stands outside of runs, and hides no text.
  const setHidden = (value: boolean) => {
    if (changes === 0 && runs.length > 0) runs[runs.length - 1] = value;
  };
  await scanXml(archive.readText(part), {
    enough: () => builder.full,
    open(name, { 'w:val': value = '' }) {
      if (skipped.has(name)) hidden += 1;
      if (hidden > 0) return;
      if (name === 'w:t' || name === 'm:t') inText = true;
      else if (name === 'w:p') paragraphs.push(undefined);
      else if (name === 'w:r') runs.push(false);
      else if (name === 'w:vanish') setHidden(!['0', 'false', 'off'].includes(value));
      else if (changed.has(name)) changes += 1;
      else if (name === 'w:pStyle') setLevel(levels(value));
      else if (name === 'w:outlineLvl') setLevel(toLevel(value) ?? undefined);
      else if (name === 'w:tab') add('\t');
      else if (name === 'w:br' || name === 'w:cr') add('\n');
      else if (name === 'w:noBreakHyphen') add('-');
      else if (name === 'w:tbl') builder.openTable();
      else if (name === 'w:txbxContent') builder.openAside();
    },
    close(name) {
      if (skipped.has(name)) hidden -= 1;
      if (hidden > 0) return;
      if (name === 'w:t' || name === 'm:t') inText = false;
      else if (name === 'w:p') builder.endParagraph(paragraphs.pop());
      else if (name === 'w:r') runs.pop();
      else if (changed.has(name)) changes -= 1;
      else if (name === 'w:tc') builder.endCell();
      else if (name === 'w:tr') builder.endRow();
      else if (name === 'w:tbl') builder.closeTable();
      else if (name === 'w:txbxContent') builder.closeAside();
    },
    text(text) {
      if (inText && hidden === 0) add(text);
    },
  });
}
