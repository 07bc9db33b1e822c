import { PasswordInput } from '@mantine/core';
import { t } from '../text.ts';

/** A new password, or the one that the browser may fill in. */
export function PasswordField({ label = t.sign.password, isNew = false }: { label?: string; isNew?: boolean }) {
  return (
    <PasswordInput
      label={label}
      name="password"
      required
      {...(isNew ? { minLength: 8, description: t.sign.passwordHint } : {})}
      maxLength={128}
      autoComplete={isNew ? 'new-password' : 'current-password'}
    />
  );
}
