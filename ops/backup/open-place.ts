import { resolve } from 'node:path';
import { OpsError } from '../context.ts';
import { DirectoryPlace } from './directory-place.ts';
import type { Place } from './place.ts';

const scheme = 's3://';
const anyScheme = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The place of a directory, or of a URL such as `s3://bucket/prefix`. Nothing connects before it is used. Throws OpsError for another URL. */
export async function openPlace(target: string): Promise<Place> {
  if (!target.startsWith(scheme)) {
    // Taken for a directory, it would be made on this machine, perhaps in a container that is removed at its end.
    if (anyScheme.test(target)) throw new OpsError(`${target} is no directory, and no bucket of S3 (s3://BUCKET/PREFIX).`);
    return new DirectoryPlace(resolve(target));
  }
  const [bucket = '', ...path] = target.slice(scheme.length).split('/').filter(Boolean);
  // The library of S3 is large: only who uses it loads it.
  const { openBucket } = await import('./bucket-place.ts');
  return openBucket(bucket, path.join('/'));
}
