const words = ['changeme', 'change-me', 'secret', 'placeholder', 'your-secret', 'development', 'test'];
const minLength = 32;
const minCharacters = 8;

/** Whether a secret is an unreplaced placeholder, or is too short or too uniform. */
function isPlaceholder(secret: string): boolean {
  const lower = secret.toLowerCase();
  return secret.length < minLength || new Set(secret).size < minCharacters || words.some((word) => lower.startsWith(word));
}

/** The problem of a placeholder secret in production; none for another one. */
export function refusePlaceholder(name: string, secret: string): string[] {
  return isPlaceholder(secret) ? [`${name}: must not be a placeholder and needs at least ${minLength} characters in production`] : [];
}
