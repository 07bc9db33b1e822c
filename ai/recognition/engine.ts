/** A picture in grey, a byte for each pixel, row by row without gaps; 0 is black. */
export interface Grey {
  data: Uint8Array;
  width: number;
  height: number;
}

/** A word that Tesseract has read, with its box in pixels; `right` and `bottom` are outside of it. */
export interface FoundWord {
  text: string;
  /** How sure it is, in percent. */
  confidence: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Tesseract: reads lines of print that stand below each other. */
export interface Engine {
  recognize(picture: Grey): Promise<FoundWord[]>;
}

/** A picture is taken for one block of lines, of print at 300 dots per inch. */
export const oneBlock = '6';
export const engineSettings = { user_defined_dpi: '300' };

const wordLevel = '5';

/** Reads Tesseract's table of words (TSV). */
export function parseWords(tsv: string): FoundWord[] {
  return tsv.split('\n').flatMap((row) => {
    const [level, , , , , , left, top, width, height, confidence, ...texts] = row.split('\t');
    const text = texts.join('\t').trim();
    if (level !== wordLevel || text === '') return [];
    const [x, y] = [Number(left), Number(top)];
    return [{ text, confidence: Math.max(0, Number(confidence)), left: x, top: y, right: x + Number(width), bottom: y + Number(height) }];
  });
}

/** The picture as a file that Tesseract reads without unpacking (binary PGM). */
export function encodePgm({ data, width, height }: Grey): Buffer {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), data]);
}
