import { PasswordInput } from '@mantine/core';
import { t } from '../text.ts';

interface PasswordFieldProps {
  label?: string;
  name?: string;
  isNew?: boolean;
}

/** A new password, or the one that the browser may fill in. */
export function PasswordField({ label = t.sign.password, name = 'password', isNew = false }: PasswordFieldProps) {
  return (
    <PasswordInput
      label={label}
      name={name}
      required
      {...(isNew ? { minLength: 8, description: t.sign.passwordHint } : {})}
      maxLength={128}
      visibilityToggleButtonProps={{ 'aria-label': t.sign.showPassword }}
      autoComplete={isNew ? 'new-password' : 'current-password'}
    />
  );
}
