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

/** The media types that may be uploaded where a deployment turns them on: Word, PowerPoint, Excel, OpenDocument, EPUB, mail, RTF. */
export const extraContentTypes = [
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.text',
  'application/epub+zip',
  'message/rfc822',
  'application/rtf',
] as const;

/** What is said of a type that may not be uploaded. */
export const contentTypeMessage = `must be one of ${contentTypes.join(', ')}`;

/** Any type that some deployment takes. */
export const contentType = z.enum([...contentTypes, ...extraContentTypes], { error: contentTypeMessage }).meta({ id: 'ContentType' });
