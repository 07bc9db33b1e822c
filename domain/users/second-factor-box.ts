import { formatEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import type { authSecrets } from '../../base/config/keys.ts';
import type { Resealer } from '../secret-box.ts';

/** Encrypts what better-auth keeps of second factors with the present secret. What was encrypted with an unknown one is returned as it is. */
export function createSecondFactorBox({ secret, secrets: [present, ...previous] }: ReturnType<typeof authSecrets>): Resealer {
  const keys = new Map([present, ...previous].map(({ version, value }) => [version, value]));
  const key = { keys, currentVersion: present.version, legacySecret: secret };
  const prefix = formatEnvelope(present.version, '');
  return {
    prefix,
    hasPrevious: false,
    async reseal(stored) {
      if (stored.startsWith(prefix)) return stored;
      const data = await symmetricDecrypt({ key, data: stored }).catch(() => undefined);
      return data === undefined ? stored : await symmetricEncrypt({ key, data });
    },
  };
}
