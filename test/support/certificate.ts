import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './processes.ts';

/**
 * Makes a certificate for `localhost` that signs itself, as fullchain.pem and privkey.pem of a directory. Returns the certificate. Throws
 * with what `openssl`, the path of the program, says if it fails.
 */
export async function makeCertificate(openssl: string, directory: string): Promise<Buffer> {
  const files = ['-keyout', join(directory, 'privkey.pem'), '-out', join(directory, 'fullchain.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', ...subject, ...files];
  const program = runProgram(openssl, args);
  const { code } = await program.exited;
  if (code !== 0) throw new Error(`openssl ended with ${code}: ${program.stderr()}`);
  return readFileSync(join(directory, 'fullchain.pem'));
}
