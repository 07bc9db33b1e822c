import { resolve } from 'node:path';
import { DirectoryPlace } from './directory-place.ts';
import type { Place } from './place.ts';

const scheme = 's3://';

/** The place of a directory, or of a URL such as `s3://bucket/prefix`. Nothing connects before it is used. */
export async function openPlace(target: string): Promise<Place> {
  if (!target.startsWith(scheme)) return new DirectoryPlace(resolve(target));
  const [bucket = '', ...path] = target.slice(scheme.length).split('/').filter(Boolean);
  // The library of S3 is large: only who uses it loads it.
  const { openBucket } = await import('./bucket-place.ts');
  return openBucket(bucket, path.join('/'));
}
