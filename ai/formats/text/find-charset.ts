import { chardet } from 'jschardet';

const sampleBytes = 32 * 1024;
const maxLineBytes = 1024;
/** Fewer bytes beyond ASCII say nothing of a charset with one byte for a letter. */
const minSigns = 4;
/** Below this confidence, of a few words, the usual charset is taken if it is nearly as likely. */
const unsure = 0.06;
const nearly = 0.65;
const usual = 'cp1252';
/** A sign within a word that is a letter in the charsets of DOS and of the Mac, but not in the usual one, whose apostrophe and œ are left out. */
const strangeWithin = /[a-z\xc0-\xff][\x80-\x91\x93-\x9b\x9d-\x9f][a-z\xc0-\xff]/i;

/** The charsets that are looked for, by the names that the detector has for them, and the usual names. */
const wide: Record<string, string> = {
  'utf-16-le': 'utf-16le',
  'utf-16-be': 'utf-16be',
  'utf-32-le': 'utf-32le',
  'utf-32-be': 'utf-32be',
};
const escaped: Record<string, string> = { iso2022_jp_2: 'iso-2022-jp' };
const escapeByte = 0x1b;
const legacy: Record<string, string> = {
  ...Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7, 8].map((last) => [`cp125${last}`, `windows-125${last}`])),
  ...Object.fromEntries([2, 5, 7, 8].map((part) => [`iso8859-${part}`, `iso-8859-${part}`])),
  'koi8-r': 'koi8-r',
  'koi8-u': 'koi8-u',
  'mac-roman': 'macintosh',
  'mac-cyrillic': 'x-mac-cyrillic',
  cp850: 'cp850',
  cp852: 'cp852',
  cp866: 'ibm866',
  cp874: 'windows-874',
  cp932: 'shift_jis',
  euc_jis_2004: 'euc-jp',
  cp949: 'euc-kr',
  gb18030: 'gb18030',
  big5hkscs: 'big5',
};

/** What bytes look like. The confidence is of 100, and null if the bytes leave no doubt: UTF-8. */
interface FoundCharset {
  charset: string;
  confidence: number | null;
}

/** Finds the charset of a text without a mark: UTF-8 if most of it is, else what a detector says, or windows-1252, which any bytes are. */
export function findCharset(bytes: Uint8Array): FoundCharset {
  const found = findWideCharset(bytes);
  if (found) return found;
  if (isMostlyUtf8(bytes)) return { charset: 'utf-8', confidence: null };
  const { sample, signs } = sampleOfSigns(bytes);
  const ranked = rank(sample, legacy);
  const [first] = ranked;
  const known = ranked.find(({ encoding }) => encoding === usual);
  const isUnsure = first && known && (signs < minSigns || (first.confidence < unsure && known.confidence > first.confidence * nearly));
  const isUsual = isUnsure && !strangeWithin.test(Buffer.from(sample).toString('latin1'));
  return toFound(isUsual ? known : first, legacy) ?? { charset: 'windows-1252', confidence: 0 };
}

/** UTF-16 or UTF-32, or the Japanese charset of mails, which is ASCII with escapes; undefined if it is none of them. */
export function findWideCharset(bytes: Uint8Array): FoundCharset | undefined {
  const sample = bytes.subarray(0, sampleBytes);
  const found = sample.includes(escapeByte) ? toFound(rank(sample, escaped)[0], escaped) : undefined;
  if (found) return found;
  const zeros = sample.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  // The detector knows no stray zeros.
  const isStray = sample.length % 2 === 1 || (zeros < sample.length / 10 && isMostlyUtf8(sample));
  return zeros === 0 || isStray ? undefined : toFound(rank(sample, wide)[0], wide);
}

type Ranked = ReturnType<typeof chardet.detectAll>[number];

function rank(sample: Uint8Array, names: Record<string, string>): Ranked[] {
  return chardet.detectAll(sample, { includeEncodings: Object.keys(names), compatNames: false, ignoreThreshold: true });
}

function toFound(ranked: Ranked | undefined, names: Record<string, string>): FoundCharset | undefined {
  const charset = names[ranked?.encoding ?? ''];
  return ranked && charset !== undefined ? { charset, confidence: Math.round(ranked.confidence * 100) } : undefined;
}

/** The lines that are not all ASCII, until there is enough for the detector, and how many bytes beyond ASCII they hold. */
function sampleOfSigns(bytes: Uint8Array): { sample: Uint8Array; signs: number } {
  const lines: Uint8Array[] = [];
  let [length, signs] = [0, 0];
  for (let start = 0; start < bytes.length && length < sampleBytes; ) {
    const end = bytes.indexOf(0x0a, start);
    const line = bytes.subarray(start, Math.min(end < 0 ? bytes.length : end + 1, start + maxLineBytes));
    const beyond = line.reduce((count, byte) => count + (byte > 0x7f ? 1 : 0), 0);
    if (beyond > 0) lines.push(line);
    length += beyond > 0 ? line.length : 0;
    signs += beyond;
    start += line.length;
  }
  return { sample: Buffer.concat(lines), signs };
}

/** A few broken bytes in a UTF-8 file must not make all of it windows-1252, where each accented letter becomes two. */
export function isMostlyUtf8(bytes: Uint8Array): boolean {
  try {
    // The last sign may be cut off.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    const text = new TextDecoder('utf-8').decode(sampleOfSigns(bytes).sample, { stream: true });
    return countBroken(text) * 4 < text.replace(/[\p{ASCII}\ufffd]+/gu, '').length;
  }
}

/** How many signs of a text could not be decoded. */
export function countBroken(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) count += 1;
  return count;
}
