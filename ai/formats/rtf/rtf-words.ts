/** Groups whose content is not part of the text. */
export const hidden = new Set(
  'fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl info pict object objdata themedata colorschememapping datastore latentstyles generator xmlnstbl filetbl fldinst nonesttables sp shprslt upr'.split(
    ' ',
  ),
);
/** Words for the code page of the whole document, besides `\ansicpg`. */
export const codePages: Record<string, number> = { pc: 437, pca: 850, mac: 10000 };
export const written: Record<string, string> = {
  par: '\n\n',
  sect: '\n\n',
  page: '\n\n',
  column: '\n\n',
  line: '\n',
  row: ' |\n',
  cell: ' | ',
  nestcell: ' ',
  tab: '\t',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  '~': '\u00a0',
  _: '-',
};
/** A control word with its number, a control symbol, a byte, an end of a group, or text. Line ends mean nothing. */
export const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z0-9'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/giy;

/** Notes and text boxes, which stand within a paragraph and are written after it. */
export const asides = new Set(['footnote', 'shptxt']);
/** Headers and footers of pages on the left, on the right, and of first pages. */
export const running = /^(header|footer)[lrf]?$/;

/** What a field of an old form says by numbers, by the names that a Word document has for it. */
export const formWords: Record<string, string> = { ffdefres: 'w:default', ffres: 'w:result' };
export const formKinds = ['', 'w:checkBox', 'w:ddList'];
/** No result. */
export const undefinedResult = 25;
