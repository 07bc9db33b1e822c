import type { Box, Grey } from './image/grey.ts';

/** How an engine takes a page apart: by itself into columns and blocks, or as one block of lines. */
export type LayoutMode = 'auto' | 'block';

/** The numbers by which Tesseract knows the modes (`--psm`). */
export const modeNumbers: Record<LayoutMode, number> = { auto: 3, block: 6 };

/** A word that an engine has read. */
export interface Word extends Box {
  text: string;
  /** How sure it is, in percent. */
  confidence: number;
  /** The block and the line of the page in which it stands, by the engine's order. */
  block: number;
  line: number;
}

/** Recognizes print in a picture. Rejects if the signal aborts. */
export interface Engine {
  recognize(picture: Grey, mode: LayoutMode, signal?: AbortSignal): Promise<Word[]>;
}

/** Settings of Tesseract, the same for each engine. Sizes of pictures are brought to that of print at 300 dots per inch before. */
export const engineSettings = { user_defined_dpi: '300' };

const wordLevel = '5';

/** Reads Tesseract's table of words (TSV). */
export function parseWords(tsv: string): Word[] {
  const lines = new Map<string, number>();
  return tsv.split('\n').flatMap((row) => {
    const [level, , block, paragraph, line, , left, top, width, height, confidence, ...texts] = row.split('\t');
    const text = texts.join('\t').trim();
    if (level !== wordLevel || text === '') return [];
    const key = `${block} ${paragraph} ${line}`;
    if (!lines.has(key)) lines.set(key, lines.size);
    const [x, y] = [Number(left), Number(top)];
    const box = { left: x, top: y, right: x + Number(width), bottom: y + Number(height) };
    return [{ ...box, text, confidence: Math.max(0, Number(confidence)), block: Number(block), line: lines.get(key) as number }];
  });
}
