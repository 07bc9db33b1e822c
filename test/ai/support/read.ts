import type { ExtractLimits } from '../../../ai/formats/document.ts';
import { extractText } from '../../../ai/formats/extract-text.ts';
import { extraKinds } from '../../../contract/content-types.ts';

/** Every kind is taken, and no test comes near a bound but those that name one. */
const limits: ExtractLimits = {
  maxUploadBytes: 10_000_000,
  maxTextCharacters: 1_000_000,
  maxPdfPages: 500,
  extraContentTypes: Object.values(extraKinds),
};

interface ReadOptions extends Partial<ExtractLimits> {
  charset?: string | undefined;
}

/** Reads a document in this process, as a reader of the service does in its own. */
export function read(content: Uint8Array | string, mediaType: string, { charset, ...bounds }: ReadOptions = {}) {
  return extractText({ bytes: Buffer.from(content as string), mediaType, charset }, { ...limits, ...bounds });
}

export async function textOf(content: Uint8Array | string, mediaType: string, options?: ReadOptions): Promise<string> {
  return (await read(content, mediaType, options)).text;
}

/** The status and the code with which a document is refused; its text if it is read. */
export function refusal(content: Uint8Array | string, mediaType: string, options?: ReadOptions): Promise<[number, string] | string> {
  return read(content, mediaType, options).then(
    ({ text }) => text,
    ({ status, code }) => [status, code],
  );
}
