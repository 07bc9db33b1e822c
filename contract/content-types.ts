import { z } from 'zod';

/** The media types that may be uploaded to every deployment. */
export const contentTypes = [
  'application/pdf',
  'text/plain',
  'text/markdown',
  'text/csv',
  'text/html',
  'application/json',
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/tiff',
] as const;

/** The media types that may be uploaded where a deployment turns them on, by their names in `EXTRA_CONTENT_TYPES`. */
export const extraKinds = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  odt: 'application/vnd.oasis.opendocument.text',
  epub: 'application/epub+zip',
  eml: 'message/rfc822',
  rtf: 'application/rtf',
} as const;
export const extraContentTypes = Object.values(extraKinds);

/** The message for a type that no deployment takes. */
const noContentType = `must be one of ${contentTypes.join(', ')}, or one that the deployment adds by EXTRA_CONTENT_TYPES`;

/** The message for a type that only other deployments take: `extra` lists the types that this one takes besides the usual ones. */
export function extraTypeMessage(contentType: string, extra: readonly string[]): string {
  const [name = contentType] = Object.entries(extraKinds).find(([, type]) => type === contentType) ?? [];
  const taken = [...contentTypes, ...extra].join(', ');
  return `must be one of ${taken}. The operator of this deployment may add ${name} to EXTRA_CONTENT_TYPES`;
}

/** Any type that some deployment takes. */
export const contentType = z.enum([...contentTypes, ...extraContentTypes], { error: noContentType }).meta({ id: 'ContentType' });
