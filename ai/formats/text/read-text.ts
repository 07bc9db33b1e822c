import type { Reader } from '../embedded-file.ts';
import { decodeText } from './decode-text.ts';
import { markMarkdownHeadings } from './markdown-headings.ts';

export const readPlain: Reader = ({ bytes, charset }) => ({ ...decodeText(bytes, charset), pages: null });

export const readMarkdown: Reader = (document) => {
  const raw = decodeText(document.bytes, document.charset);
  return { ...raw, text: markMarkdownHeadings(raw.text), pages: null };
};
