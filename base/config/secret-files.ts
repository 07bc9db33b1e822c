import { readFileSync } from 'node:fs';

/** The variables whose value may be kept in a file that `<name>_FILE` names, as container platforms hand out secrets. */
export const secretVariables: readonly string[] = [
  'AUTH_SECRET',
  'AUTH_SECRET_PREVIOUS',
  'SERVICE_TOKEN',
  'SERVICE_TOKEN_PREVIOUS',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SMTP_URL',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'PROVIDER_A_CLIENT_SECRET',
  'PROVIDER_B_CLIENT_SECRET',
  'TEMPORAL_API_KEY',
  'TEMPORAL_PAYLOAD_KEYS',
  'TEMPORAL_CODEC_TOKEN',
  'REMOTE_AI_KEY',
  'REMOTE_AI_CHAT',
  'REMOTE_AI_EMBED',
  'REMOTE_AI_PREVIOUS_EMBED',
  'REMOTE_AI_VISION',
  'REMOTE_AI_RERANK',
  'STORAGE_SECRET_ACCESS_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
];

/**
 * The value of a variable, undefined if it is absent: the content of the file that `<name>_FILE` names, without the line break at its end,
 * or else the variable itself. If both are set the file counts, so that a deployment may have a default for the variable. Throws an error
 * that names the variable and the file if the file cannot be read or is empty.
 */
export function readVariable(env: Record<string, string | undefined>, name: string): string | undefined {
  const file = secretVariables.includes(name) ? env[`${name}_FILE`]?.trim() : undefined;
  return file ? readSecret(`${name}_FILE`, file) : env[name];
}

/**
 * The variables of `env`, with `changes` in their place. A variable that changes has the value that it is given, whatever file
 * `<name>_FILE` of `env` names, also if that value is blank.
 */
export function changeVariables(
  env: Record<string, string | undefined>,
  changes: Record<string, string | undefined>,
): Record<string, string | undefined> {
  const files = secretVariables.filter((name) => Object.hasOwn(changes, name)).map((name) => [`${name}_FILE`, '']);
  return { ...env, ...Object.fromEntries(files), ...changes };
}

function readSecret(variable: string, file: string): string {
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(`${variable}: ${file} cannot be read (${reason})`);
  }
  if (secret.trim() === '') throw new Error(`${variable}: ${file} is empty`);
  return secret;
}
