const utf8Bom = [0xef, 0xbb, 0xbf];
const utf16BigEndianBom = [0xfe, 0xff];
const utf16LittleEndianBom = [0xff, 0xfe];
const sampleBytes = 64 * 1024;

/**
 * Decodes a text document. A byte order mark wins, then the declared charset, then what the bytes look like: UTF-16, UTF-8, or
 * windows-1252. Never throws: what cannot be decoded becomes U+FFFD.
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined): string {
  return new TextDecoder(charsetOfBom(bytes) ?? knownCharset(charset) ?? guessCharset(bytes)).decode(bytes);
}

/** The charset of the byte order mark, if there is one. */
export function charsetOfBom(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, utf8Bom)) return 'utf-8';
  if (startsWith(bytes, utf16BigEndianBom)) return 'utf-16be';
  if (startsWith(bytes, utf16LittleEndianBom)) return 'utf-16le';
  return undefined;
}

/** The canonical name of a charset label; undefined if there is no decoder for it. */
export function knownCharset(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function startsWith(bytes: Uint8Array, prefix: number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

/** The charset that bytes look like: that of their mark, else UTF-16, UTF-8, or windows-1252, which any bytes are. */
export function guessCharset(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, sampleBytes);
  return charsetOfBom(sample) ?? guessUtf16(sample) ?? (isMostlyUtf8(sample) ? 'utf-8' : 'windows-1252');
}

// Latin text in UTF-16 has a zero in every other byte; text in other encodings has none.
function guessUtf16(sample: Uint8Array): string | undefined {
  let evenZeros = 0;
  let oddZeros = 0;
  for (let index = 0; index + 1 < sample.length; index += 2) {
    if (sample[index] === 0) evenZeros += 1;
    if (sample[index + 1] === 0) oddZeros += 1;
  }
  const units = Math.floor(sample.length / 2);
  if (units < 2) return undefined;
  if (oddZeros > units * 0.4 && evenZeros < units * 0.05) return 'utf-16le';
  if (evenZeros > units * 0.4 && oddZeros < units * 0.05) return 'utf-16be';
  return undefined;
}

// A few broken bytes in a UTF-8 file must not make all of it windows-1252, where each accented letter becomes two.
function isMostlyUtf8(sample: Uint8Array): boolean {
  // `stream` leaves out a character that is cut off at the end of the sample.
  const text = new TextDecoder('utf-8').decode(sample, { stream: true });
  let broken = 0;
  let beyondAscii = 0;
  for (const character of text) {
    if (character === '\ufffd') broken += 1;
    else if (character > '\x7f') beyondAscii += 1;
  }
  return broken === 0 || broken * 4 < beyondAscii;
}
