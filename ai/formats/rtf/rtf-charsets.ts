import { knownCharset } from '../text/decode-text.ts';

/** Code pages of which the decoder has another name than `windows-` and their number. */
const decoders: Record<number, string> = {
  437: 'cp437',
  850: 'cp850',
  852: 'cp852',
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  65001: 'utf-8',
};

/** The code pages of fonts by their `\fcharset`. The others say nothing: they are those of the document, or of signs that are no letters. */
const codePages: Record<number, number> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 437,
};

/** The charset of a code page; undefined if there is no decoder for it. */
export function charsetOfCodePage(codePage: number): string | undefined {
  const name = decoders[codePage] ?? `windows-${codePage}`;
  return knownCharset(name);
}

/** The charset of the fonts with a `\fcharset`; undefined if it is that of the document. */
export function charsetOfFont(fontCharset: number): string | undefined {
  const codePage = codePages[fontCharset];
  return codePage === undefined ? undefined : charsetOfCodePage(codePage);
}
