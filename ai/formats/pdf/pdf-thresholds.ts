// The thresholds of the layout of a PDF page, each with the documents that need it. Lengths are multiples of the font size unless they say
// otherwise. Files that are named are of public sets: ICDAR 2013 (`eu-…`, `us-…`), the tests of pdfplumber and of pdf.js. Each has a test in
// test/ai/pdf-*.test.ts or stamped-scans.test.ts.

/** Lines and paragraphs. */
export const lineThresholds = {
  /** Ratio to the usual line gap that starts a paragraph: reports without indents. */
  paragraphGap: 1.35,
  /** Ratio of font sizes that separates two lines: a title right above its text. */
  headingRatio: 1.1,
  /** Minimum CSS weight of bold type. */
  boldWeight: 600,
  /** Maximum slope of an upright line: scans with a text layer that is a little askew (issue15096.pdf); a watermark is steeper (issue17069.pdf). */
  maxSkew: 0.1,
  /** Minimum gap between two cells drawn in one run: accounting software. */
  wideGap: 0.9,
  /** Minimum gap between two columns in a row that nearly fills them: the table of the sample handbook. */
  wideBlank: 0.4,
  /** Maximum distance of baselines of one line: superscripts, and numbers set a little lower than their labels. */
  sameBaseline: 0.3,
  /** Maximum size, and minimum and maximum rise, of a superscript: prices with note marks, printed by browsers. */
  smallerRaised: 0.86,
  raisedBy: 0.1,
  raisedAtMost: 0.7,
  /** Maximum gap within a superscript: papers with note marks. */
  besideRaised: 0.6,
  /** Minimum gap between two words: a unit raised behind a label, “Price EUR” (pdf-shown.test.ts). */
  withinWord: 0.2,
  /** Minimum jump left and down that starts a line; minimum vertical jump anywhere: a list of a few words in each row. */
  stepBack: 2,
  otherLine: 1.5,
};

/** Pages of two columns: papers and newsletters whose PDF draws line by line across both. */
export const columnThresholds = {
  /** Minimum lines of each column: two addresses side by side on a letter are not columns. */
  minLines: 5,
  /** Range of the page's width in which the right column begins: a margin with notes is not a column. */
  middle: { from: 0.3, to: 0.7 },
  /** Maximum distance of left edges that are aligned, in points: justified type whose first letter hangs in the margin. */
  tolerance: 2,
  /** Minimum share of full lines, and minimum words of a line: columns of a table or a price list have less. */
  filled: 0.75,
  minWords: 4,
  /** Minimum share of lines after which the text changes columns, if it is drawn line by line (tracemonkey.pdf, us-020.pdf). */
  switching: 0.6,
};

/** Rows and tables: invoices, price lists, statements of accounts. */
export const tableThresholds = {
  /** Minimum gap of two parts drawn one after the other, and of two columns. */
  minGap: 0.4,
  /** Maximum lines of a cell that is drawn whole before the next one: tables printed by browsers. */
  maxLinesOfDrawnCell: 12,
  /** Minimum rows of a table: two labels of a form are none. */
  minRows: 3,
  /** Bounds of time, which grows with the square of both: maximum lines of a page with tables, and columns of a table (hostile files). */
  maxLines: 1_000,
  maxColumns: 40,
  /** Maximum lines of a title above rows: statistics by groups. */
  maxLinesOfLabel: 2,
  /** Maximum distance of two rows: tables with cells of several lines. */
  maxStep: 4,
  /** Maximum distance of two lines of a cell. */
  cellStep: 1.45,
  /** Ratio of the distance of rows to that of a cell's lines: tables without ruled lines, with titles of groups (table-curves-example.pdf). */
  clearlyFurther: 1.15,
  /** Minimum share of filled cells: lines of text with wide blanks are no table. */
  minFilled: 0.5,
  /** Maximum distance of edges that are aligned, in points: right-aligned numbers with signs behind them. */
  tolerance: 2.5,
  /** Minimum share of cells with an aligned edge, in each column and in all: items of a list have less. */
  minAligned: { column: 0.6, table: 0.75 },
};

/** Lines that are drawn between the cells of a table, in points. */
export const ruledThresholds = {
  /** Minimum length: shorter ones are strokes of drawings and signs (ICDAR 2013 loses precision). */
  minLength: 4,
  /** How far lines that meet may be apart, and a letter may reach over one (ICDAR 2013 loses what all this gains). */
  slack: 1,
  /** Bounds of time: maximum parts of paths that are looked at, and lines of a page among which tables are looked for (hostile files). */
  maxSegments: 50_000,
  maxLines: 2_000,
};

/** Headings: reports, handbooks, theses. */
export const headingThresholds = {
  /** Ratio to the text's font size that makes a heading. */
  clearlyLarger: 1.15,
  /** Minimum ratio to the usual gap, above a bold heading: theses set in one size. Second lines of titles have less (eu-017.pdf). */
  spaceAbove: 1.15,
  /** Maximum distance of two lines of a heading. */
  maxStep: 1.8,
  /** A bold paragraph has more (issue-463-example.pdf). */
  maxLines: 3,
  /** In characters: a bold sentence (us-002.pdf) and a list of authors (tracemonkey.pdf) are longer. */
  maxHeadingLength: 160,
  /** Minimum median of the characters below headings of one style: labels of a form and cells of a table have less. */
  minText: { larger: 30, bold: 80 },
  /** Maximum share of a document that is set like headings: posters and slides have none. */
  maxShare: 0.25,
  deepestLevel: 3,
};

/** Running headers and footers: books, reports, court files. */
export const runningThresholds = {
  /** Maximum running lines at the top and at the bottom of a page. */
  maxAtEdge: 3,
  /** Minimum pages with the same line: a form of two pages repeats its title. */
  minPages: 3,
  /** Maximum pages in between: left and right pages differ, a chapter begins without. Others say the same by chance (calrgb.pdf). */
  maxPagesBetween: 3,
  /** Maximum characters of a running line. A bound of time: each number in a line makes a copy of it. */
  maxLineLength: 1_000,
  /** Maximum difference of height, in points. */
  tolerance: 4,
};

/** What a page does not show as it is stored: halves of spreads, overprinted type, letters that are set one by one. */
export const shownThresholds = {
  /** Maximum distance of copies: bold type is shifted by 0.05, shadows by 0.1. */
  sameLine: 0.15,
  samePlace: 0.15,
  /** In letters: a word that is drawn twice within a line. Two of a ligature stand at one place (copy_paste_ligatures.pdf). */
  minCopyLength: 3,
  /** In letters: the search for copies is quadratic (hostile files). */
  maxLineLength: 2_000,
  /** Minimum gap of letters of spaced words, and maximum of their median: titles; columns are further apart. */
  widelySet: { from: 0.15, to: 1.2 },
  /** Ratio of the blank between two spaced words. */
  widerBlank: 1.6,
  /** Maximum lines of a page: the time is quadratic (hostile files). */
  maxLines: 2_000,
};

/** Lines of Hebrew and Arabic: invoices with numbers and names of goods. */
export const rightThresholds = {
  /** Minimum gap of two words. */
  minBlank: 0.12,
  /** Maximum blank within a run of words from left to right: cells of a table have wider ones. */
  maxBlankWidth: 0.9,
};

/** Layers: plans, forms in several languages. */
export const layerThresholds = {
  /** Beyond these, everything counts as shown (hostile files). */
  maxObjects: 20_000,
  deepestForm: 5,
  maxGroups: 200,
};

/** Text that nobody sees: white on white, under a box. */
export const unseenThresholds = {
  /** Maximum characters of a page that is checked (hostile files). */
  maxCharacters: 30_000,
  /** Minimum visible difference of two colour levels, of 255. */
  minLevels: 3,
};

/** Pages whose fonts do not say which letters they show: PDFs without `ToUnicode`. Shares, or numbers of signs. */
export const unmappedThresholds = {
  /** Share of unmapped characters that sends a page to OCR: formulas and bullets are less. */
  ofPage: 0.2,
  /** Minimum number for a notice: a few are a ligature or an arrow. */
  minToSay: 10,
  /** Minimum letters that tell a language. */
  minLetters: 5,
  /** Maximum share of control characters: a blank's glyph has the number of one in most fonts. */
  maxControls: 0.02,
  /** Minimum share of vowels: languages in Latin letters have 0.35 and more, a shifted alphabet has 0.15. */
  minVowels: 0.22,
  /** Minimum share of letters and digits. */
  minWordSigns: 0.55,
  maxStrange: 0.1,
  /** Minimum range of code points of a Chinese or Korean text. */
  narrowest: 512,
};

/** What is typed upon a page: forms that are filled, annotations. */
export const typedThresholds = {
  /** In points, if no line above tells. */
  usualSize: 10,
  /** Maximum distance of a label's baseline below its field: underlined blanks. */
  belowBaseline: 0.3,
  /** Blank behind a label with a colon. */
  afterLabel: 0.3,
  /** Average width of a letter in Helvetica. */
  widthOfLetter: 0.5,
  /** In letters: a line that is longer takes nothing more, since each text in it is looked for from its beginning (hostile files). */
  maxLineLength: 2_000,
};

/** Pages that are pictures of text: scans, with and without a stamp of a fax, a page number, or the id of a signature. */
export const scanThresholds = {
  /** In characters: annotations are longer than stamps. */
  maxOfStamps: 150,
  /** Minimum share of a page that its pictures cover: some scanners leave out a margin. */
  minCovered: 0.75,
  /** Share of a page that is no illustration; a smaller picture is read beside at most so many letters: a screenshot above a footer. */
  half: 0.5,
  minOfPicture: 0.2,
  maxLettersBeside: 400,
  /** Maximum pieces of a scan, and how deep they are nested (hostile files). */
  maxObjects: 5_000,
  deepestForm: 3,
};
