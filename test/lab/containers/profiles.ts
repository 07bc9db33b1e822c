import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { type Deployment, prepareDeployment } from './deployment.ts';

/** A deployment with every profile but `acme`: an edge with TLS, a store of S3, backups in it, and a codec server for encrypted payloads. */
export interface ProfiledDeployment extends Deployment {
  /** A file with the certificate of the edge, which signs itself. */
  certificateFile: string;
  codecUrl: string;
  /** The id of the key that payloads are encrypted with. */
  payloadKeyId: string;
}

export const bucket = 'documents';
/** Beside the documents, since the store has only that bucket. */
export const backupTarget = `s3://${bucket}/backups`;

/** Writes an .env with these profiles of docker-compose.yml. Needs openssl. */
export async function prepareProfiles(): Promise<ProfiledDeployment> {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-certificate-'));
  const certificate = await makeCertificate('openssl', directory);
  const [plainPort, tlsPort, storePort, codecPort] = await findFreePorts(4);
  const codecUrl = `http://localhost:${codecPort}`;
  const storageSecret = randomBytes(32).toString('hex');
  const deployment = await prepareDeployment({
    env: {
      COMPOSE_PROFILES: 'tls,store,codec,backup',
      API_URL: `https://localhost:${tlsPort}`,
      EDGE_PORT: `127.0.0.1:${plainPort}`,
      EDGE_TLS_PORT: String(tlsPort),
      STORAGE_DRIVER: 's3',
      STORAGE_BUCKET: bucket,
      STORAGE_API_ENDPOINT: 'http://store:7070',
      STORAGE_PUBLIC_ENDPOINT: `http://localhost:${storePort}`,
      STORAGE_ACCESS_KEY_ID: 'sheaf',
      STORAGE_SECRET_ACCESS_KEY: storageSecret,
      BACKUP_TARGET: backupTarget,
      BACKUP_DIR: directory,
      AWS_ENDPOINT_URL_S3: 'http://store:7070',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'sheaf',
      AWS_SECRET_ACCESS_KEY: storageSecret,
      STORE_PORT: `127.0.0.1:${storePort}`,
      TEMPORAL_PAYLOAD_KEYS_FILE: '/run/secrets/payload-keys',
      TEMPORAL_CODEC_ENDPOINT: codecUrl,
      TEMPORAL_CODEC_PORT: String(codecPort),
    },
    secrets: {
      server: { 'payload-keys': `first:${randomBytes(32).toString('base64')}` },
      tls: { 'fullchain.pem': certificate.toString(), 'privkey.pem': readFileSync(join(directory, 'privkey.pem'), 'utf8') },
    },
  });
  return {
    ...deployment,
    certificateFile: join(directory, 'fullchain.pem'),
    codecUrl,
    payloadKeyId: 'first',
    forget: async () => {
      rmSync(directory, { recursive: true });
      await deployment.forget();
    },
  };
}
