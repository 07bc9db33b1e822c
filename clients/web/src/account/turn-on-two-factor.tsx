import { Code, Text, TextInput } from '@mantine/core';
import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { useState } from 'react';
import { FormDialog } from '../components/form-dialog.tsx';
import { PasswordField } from '../components/password-field.tsx';
import type { FormTask } from '../components/use-form-task.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { BackupCodes } from './backup-codes.tsx';
import { useReadUserAgain } from './user.ts';

interface Begun {
  totpURI: string;
  backupCodes: string[];
}

/** Asks for the password, shows the secret, asks for a code of the authenticator that has it, and shows the backup codes. */
export function TurnOnTwoFactor({ onClose }: { onClose: () => void }) {
  const [begun, setBegun] = useState<Begun>();
  const [isOn, setIsOn] = useState(false);
  const readAgain = useReadUserAgain();
  const begin: FormTask = async ({ password = '' }) => {
    const answer = await ask(auth.twoFactor.enable({ password }));
    if (answer.method === 'totp') setBegun(answer);
  };
  const finish: FormTask = async ({ code = '' }) => {
    await ask(auth.twoFactor.verifyTotp({ code: code.replaceAll(' ', '') }));
    setIsOn(true);
    await readAgain();
  };
  if (!begun)
    return (
      <FormDialog title={t.account.turnOnTitle} action={t.account.goOn} task={begin} onClose={onClose}>
        <PasswordField label={t.account.current} />
      </FormDialog>
    );
  if (isOn) return <BackupCodes codes={begun.backupCodes} onClose={onClose} />;
  return (
    <FormDialog title={t.account.turnOnTitle} action={t.account.turnOn} task={finish} onClose={onClose}>
      <Text>{t.account.scan}</Text>
      <QrCode text={begun.totpURI} />
      <Text>{t.account.secret}</Text>
      <Code block className="foreign wraps" tabIndex={0}>
        {new URL(begun.totpURI).searchParams.get('secret')}
      </Code>
      <TextInput label={t.twoFactor.code} name="code" required autoFocus inputMode="numeric" autoComplete="one-time-code" maxLength={7} />
    </FormDialog>
  );
}

function QrCode({ text }: { text: string }) {
  const code = generate(text);
  const edge = 4;
  return (
    <svg viewBox={[-edge, -edge, code.size + 2 * edge, code.size + 2 * edge].join(' ')} role="img" aria-label={t.account.qr} className="qr">
      <path d={toSvgPath(code)} />
    </svg>
  );
}
