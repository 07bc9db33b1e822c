// Every number by which the layout of a PDF page is read, with the document that it is for. Sizes are in the size of the type unless they
// say otherwise. Each has a test in test/ai/pdf-structure.test.ts, pdf-tables.test.ts or stamped-scans.test.ts.

/** Lines and paragraphs. */
export const lineThresholds = {
  /** A gap is a paragraph's if it is so much wider than the usual one: reports set without indents. */
  paragraphGap: 1.35,
  /** Type is another one if it is so much larger: a title right above its text. */
  headingRatio: 1.1,
  /** Weights from here on are bold, as CSS counts them. */
  boldWeight: 600,
  /** How far a line may lean and still be an upright one, as a slope: scans with a text layer, set a little askew. */
  mostLean: 0.1,
  /** Wider than any space between words: two cells of a row drawn in one run, as accounting software does. */
  wideGap: 0.9,
  /** As wide as a blank may be between two columns in the one row that nearly fills them: the table of the sample handbook. */
  wideBlank: 0.4,
  /** How far apart the baselines of one line may be: superscripts, and numbers set a little lower than their labels. */
  sameBaseline: 0.3,
  /** How large a power or the mark of a note is at most, and how much higher it stands: prices with marks of notes, printed by browsers. */
  smallerRaised: 0.86,
  raisedBy: 0.1,
  raisedAtMost: 0.7,
  /** What is no further from it goes on with it: papers with marks of notes. */
  besideRaised: 0.6,
  /** Letters so far apart are those of two words. */
  withinWord: 0.2,
  /** So far to the left, and lower, another line begins; so far above or below, wherever: a list of a few words in each row. */
  stepBack: 2,
  otherLine: 1.5,
};

/** Pages of two columns: papers and newsletters whose PDF draws line by line across both. */
export const columnThresholds = {
  /** So many lines stand in each column at least: two addresses beside each other on a letter are not columns. */
  fewestLines: 5,
  /** The right column begins within this part of the width: a margin with notes is not a column. */
  middle: { from: 0.3, to: 0.7 },
  /** How far apart lines may begin that begin together, in points: justified type whose first letter is set in the margin. */
  tolerance: 2,
  /** Columns of text are filled by most of their lines, with several words; those of a table or a price list are not. */
  filled: 0.75,
  fewestWords: 4,
  /** So often does the text go over to the other column if it is drawn line by line: a page drawn column by column does not. */
  switching: 0.6,
};

/** Rows and tables: invoices, price lists, statements of accounts. */
export const tableThresholds = {
  /** How far apart parts stand that are drawn one after the other, and two columns at least. */
  leastGap: 0.4,
  /** A cell has at most so many lines if it is drawn whole before the next one of its row: tables printed by browsers. */
  mostLinesOfDrawnCell: 12,
  /** A label or two of a form are two rows, and no table. */
  fewestRows: 3,
  /** A page with more lines, or more parts of lines, is read as it is: the time grows with the square of their number (hostile files). */
  mostLines: 1_000,
  mostParts: 4_000,
  mostColumns: 40,
  /** A row goes on within so many lines: descriptions of goods on an invoice. */
  mostLinesOfCell: 8,
  /** So has the title of the rows below it: statistics by groups. */
  mostLinesOfLabel: 2,
  /** How far a row may be below the one before: tables with cells of several lines. */
  widestStep: 4,
  /** Lines of one cell are no further from each other. */
  cellStep: 1.45,
  /** By how much rows are further from each other than the lines of a cell, if that tells them: tables without rules. */
  clearlyFurther: 1.15,
  /** So many of the cells have something in them at least: lines of text with wide blanks are no table. */
  leastFilled: 0.5,
  /** How far apart cells may begin that begin together, in points: numbers set to the right with signs behind them. */
  tolerance: 2.5,
  /** How many of the cells begin or end at common places, in each column and in all: points of a list do not. */
  leastAligned: { column: 0.6, table: 0.75 },
};

/** Headings: reports, handbooks, theses. */
export const headingThresholds = {
  /** How much larger than the text a line is that is a heading by its size. */
  clearlyLarger: 1.15,
  /** A heading in bold is no smaller than the text, and stands this much further below what is before it: theses set in one size. */
  notSmaller: 0.95,
  spaceAbove: 1.15,
  /** Lines of one heading are no further from each other. */
  widestStep: 1.8,
  mostLines: 3,
  /** In characters: a sentence in bold is longer. */
  longestHeading: 160,
  /** What is beneath headings of one form, in characters, half of the time at least. Labels of a form have less, and cells of a table. */
  leastText: { larger: 30, bold: 80 },
  /** A document of which more than this is set like headings has none that could be told from its text: posters, slides. */
  largestShare: 0.25,
  deepestLevel: 3,
  /** A document with more forms of titles has none that mean something: catalogues and magazines. */
  mostForms: 40,
};

/** Running headers and footers: books, reports, court files. */
export const runningThresholds = {
  /** How many lines at the top of a page, and at its bottom, may be running ones. */
  mostAtEdge: 3,
  /** On so many pages a line has to stand, all of them near each other: a form of two pages repeats its title. */
  fewestPages: 3,
  /** Pages of the right and the left have lines of their own, and a chapter begins without. */
  mostPagesBetween: 3,
  /** In characters. */
  longestLine: 200,
  /** How much higher or lower it may stand, in points. */
  tolerance: 4,
};

/** What a page does not show as it is stored: halves of spreads, overprinted type, letters that are set one by one. */
export const shownThresholds = {
  /** How far a letter may be outside of the page, in points: italics at its edge. */
  margin: 1,
  /** How far copies stand from each other: bold type is shifted by 0.05, shadows by 0.1. */
  sameLine: 0.15,
  samePlace: 0.15,
  /** How many letters of a line are copies of those of another, if it is one. */
  mostly: 0.8,
  /** In letters: a word that is drawn twice within a line. */
  shortestCopy: 3,
  /** In letters. A longer line is not searched for them: the time grows with the square (hostile files). */
  longestLine: 2_000,
  /** How far apart letters are that are set one by one, all of them and half of them: titles; columns are further. */
  widelySet: { from: 0.15, to: 1.2 },
  /** By how much a blank between two such words is wider. */
  widerBlank: 1.6,
  /** A page with more lines is read as it is: the time grows with the square of their number (hostile files). */
  mostLines: 2_000,
};

/** Lines of Hebrew and Arabic: invoices with numbers and names of goods. */
export const rightThresholds = {
  /** How far apart words stand. */
  leastBlank: 0.12,
  /** A run of words from left to right has no wider blanks: cells of a table. */
  widestBlank: 0.9,
};

/** Layers: plans, forms in several languages. */
export const layerThresholds = {
  /** More objects, forms that are deeper, and more groups of layers are taken to be shown (hostile files). */
  mostObjects: 20_000,
  deepestForm: 5,
  mostGroups: 200,
};

/** Text that nobody sees: white on white, under a box. */
export const unseenThresholds = {
  /** A page with more is read as it is (hostile files). */
  mostCharacters: 30_000,
  /** How far two levels of a colour, of 255, are apart that are seen apart. */
  fewestLevels: 3,
};

/** Pages whose fonts do not say which letters they show: PDFs without `ToUnicode`. Shares, or numbers of signs. */
export const unmappedThresholds = {
  /** From here on a page is to be recognized: formulas and bullets are less. */
  ofPage: 0.2,
  /** A few signs are a ligature or an arrow. */
  fewestToSay: 10,
  /** A word. Fewer signs do not tell. */
  fewestLetters: 5,
  /** The number of the glyph of a blank is that of a control character in most fonts. */
  mostControls: 0.02,
  /** Written languages have 0.35 and more of the Latin letters; letters of a shifted alphabet have 0.15. */
  fewestVowels: 0.22,
  /** Letters and digits; prices have fewer letters, but digits. */
  fewestWordSigns: 0.55,
  mostStrange: 0.1,
  /** How far apart, in code points, Chinese characters or Korean syllables of a text are at least. */
  narrowest: 512,
};

/** What is typed upon a page: forms that are filled, annotations. */
export const typedThresholds = {
  /** In points, if no line above tells. */
  usualSize: 10,
  /** How far the baseline of a label may be below the box of its field: underlined blanks. */
  belowBaseline: 0.3,
  /** The blank behind a label with a colon. */
  afterLabel: 0.3,
  /** On average, in Helvetica. */
  widthOfLetter: 0.5,
};

/** Pages that are pictures of text: scans, with and without a stamp of a fax, a page number, or the id of a signature. */
export const scanThresholds = {
  /** In characters: stamps are shorter, annotations are longer. */
  mostOfStamps: 150,
  /** How much of a page its pictures cover: some scanners leave out a margin. */
  leastCovered: 0.75,
  /** Half a page is more than an illustration, and less is read beside so few letters: a screenshot above a footer. */
  half: 0.5,
  leastOfPicture: 0.2,
  mostBeside: 400,
  /** No scan is made of more pieces (hostile files), or deeper ones. */
  mostObjects: 5_000,
  deepestForm: 3,
};
