/** A line of a page, as it stands in the order of reading. Lengths are in points; values unknown to PDFium are undefined. */
export interface Line {
  text: string;
  /** Where it begins, from the left edge of the page. */
  x: number | undefined;
  /** Baseline above the page's lower edge. */
  y: number | undefined;
  /** Baseline of its end, if lines are joined in it. */
  endY?: number | undefined;
  /** Of the font, as it is shown. */
  size: number | undefined;
  /** Set in bold from its first to its last character. */
  bold: boolean;
  /** Written from left to right at its beginning and its end, not up or down the page. */
  upright: boolean;
  /** Parts of it stand so far from each other that they may be cells of a table. */
  gapped: boolean;
  /** What stands between its wide gaps, from the left; none if that is not known, or words are joined in it that line ends part. */
  parts: Part[];
  /** Nothing of it is of the page's content: the value of a field, an annotation. */
  typed?: true;
  /** The table of which it is a row, in Markdown; lines of one table have the same. */
  table?: object;
}

/** A stretch of a line without a wide gap, in points. */
export interface Part {
  text: string;
  x: number;
  right: number;
  y: number;
  /** Blanks in it that are wider than most. */
  blanks: Blank[];
  /** Where it stands in a table that has lines around its cells. */
  cell?: Cell | undefined;
}

/** A cell by its row and column, from 0. `grid` is the same object for all cells of one table. */
export interface Cell {
  grid: object;
  row: number;
  column: number;
}

/** A blank of a text: where the word after it begins, and what is at both sides, in points. */
export interface Blank {
  at: number;
  right: number;
  x: number;
}
