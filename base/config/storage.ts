import { z } from 'zod';
import { crossCheck, httpUrl } from './environment.ts';

/** The store of documents: files of this service, a bucket of Google Cloud Storage, or one of a server that speaks S3. */
type StoreConfig =
  | { driver: 'local' }
  | { driver: 'bucket'; bucket: string; apiEndpoint: string | undefined }
  | {
      driver: 's3';
      bucket: string;
      /** The address of the server; undefined for that of Amazon. */
      apiEndpoint: string | undefined;
      /** The address in signed links, as clients reach the server. */
      publicEndpoint: string | undefined;
      region: string;
      /** Undefined for those that the SDK finds by itself. */
      credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
    };

const ofS3 = {
  STORAGE_PUBLIC_ENDPOINT: httpUrl().optional(),
  STORAGE_REGION: z.string().optional(),
  STORAGE_ACCESS_KEY_ID: z.string().optional(),
  STORAGE_SECRET_ACCESS_KEY: z.string().optional(),
};

/** The variables that name the store of documents. */
export const storageVariables = {
  STORAGE_DRIVER: z.enum(['local', 'bucket', 's3'], 'must be local, bucket or s3').optional(),
  STORAGE_BUCKET: z.string().optional(),
  STORAGE_API_ENDPOINT: httpUrl().optional(),
  ...ofS3,
};

const storageEnvironment = z.object(storageVariables);
type StorageVariables = z.output<typeof storageEnvironment>;

const check = crossCheck<typeof storageEnvironment>();

/** Checks of the store's variables together. */
export const storageChecks = [
  check(['STORAGE_DRIVER', 'STORAGE_BUCKET'], (e) => {
    const driver = driverOf(e);
    if (driver === 'local') return e.STORAGE_BUCKET === undefined ? [] : ['STORAGE_BUCKET: is set while STORAGE_DRIVER is local'];
    return e.STORAGE_BUCKET === undefined ? [`STORAGE_BUCKET: is missing while STORAGE_DRIVER is ${driver}`] : [];
  }),
  ...(Object.keys(ofS3) as (keyof typeof ofS3)[]).map((name) =>
    check(['STORAGE_DRIVER', name], (e) =>
      e.STORAGE_DRIVER === 's3' || e[name] === undefined ? [] : [`${name}: is read only if STORAGE_DRIVER is s3`],
    ),
  ),
  check(['STORAGE_DRIVER', 'STORAGE_API_ENDPOINT', 'STORAGE_REGION'], (e) =>
    e.STORAGE_DRIVER === 's3' && e.STORAGE_API_ENDPOINT === undefined && e.STORAGE_REGION === undefined
      ? ['STORAGE_REGION: is missing; without STORAGE_API_ENDPOINT the bucket is in a region of Amazon']
      : [],
  ),
  check(['STORAGE_ACCESS_KEY_ID', 'STORAGE_SECRET_ACCESS_KEY'], (e) => {
    const absent = (['STORAGE_ACCESS_KEY_ID', 'STORAGE_SECRET_ACCESS_KEY'] as const).filter((name) => e[name] === undefined);
    return absent.length === 1 ? [`${absent[0]}: is missing while the other half of the key is set`] : [];
  }),
];

/** The driver: by default the one that a bucket, or none, asks for. */
function driverOf({ STORAGE_DRIVER, STORAGE_BUCKET }: Pick<StorageVariables, 'STORAGE_DRIVER' | 'STORAGE_BUCKET'>) {
  return STORAGE_DRIVER ?? (STORAGE_BUCKET === undefined ? 'local' : 'bucket');
}

/** The store that the variables name, once they have passed {@link storageChecks}. */
export function storeOf(e: StorageVariables): StoreConfig {
  const { STORAGE_BUCKET: bucket, STORAGE_API_ENDPOINT: apiEndpoint } = e;
  if (bucket === undefined) return { driver: 'local' };
  if (driverOf(e) === 'bucket') return { driver: 'bucket', bucket, apiEndpoint };
  const { STORAGE_ACCESS_KEY_ID: accessKeyId, STORAGE_SECRET_ACCESS_KEY: secretAccessKey } = e;
  return {
    driver: 's3',
    bucket,
    apiEndpoint,
    publicEndpoint: e.STORAGE_PUBLIC_ENDPOINT ?? apiEndpoint,
    // The region of most servers that are not Amazon's.
    region: e.STORAGE_REGION ?? 'us-east-1',
    credentials: accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined,
  };
}
