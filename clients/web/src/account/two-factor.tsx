import { Button, Group, Text, TextInput } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useState } from 'react';
import { FormDialog } from '../components/form-dialog.tsx';
import { PasswordField } from '../components/password-field.tsx';
import type { FormTask } from '../components/use-form-task.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { BackupCodes } from './backup-codes.tsx';
import { NoPassword } from './password.tsx';
import { Section } from './section.tsx';
import { TurnOnTwoFactor } from './turn-on-two-factor.tsx';
import { useHasPassword, useReadUserAgain, useUser } from './user.ts';

type Asked = { what: 'turn on' | 'turn off' | 'new codes' } | { what: 'codes'; codes: string[] };

export function TwoFactor() {
  const { twoFactorEnabled } = useUser();
  const hasPassword = useHasPassword();
  const [asked, setAsked] = useState<Asked>();
  const onClose = () => setAsked(undefined);
  const button = (what: 'turn on' | 'turn off' | 'new codes', label: string) => (
    <Button variant="default" onClick={() => setAsked({ what })}>
      {label}
    </Button>
  );
  return (
    <Section title={t.account.twoFactor}>
      <Text mb="md">{twoFactorEnabled ? t.account.twoFactorOn : t.account.twoFactorOff}</Text>
      {hasPassword === false ? (
        <NoPassword />
      ) : (
        <Group gap="xs">
          {twoFactorEnabled && button('new codes', t.account.newCodes)}
          {twoFactorEnabled ? button('turn off', t.account.turnOff) : button('turn on', t.account.turnOn)}
        </Group>
      )}
      {asked?.what === 'turn on' && <TurnOnTwoFactor onClose={onClose} />}
      {asked?.what === 'turn off' && <TurnOff onClose={onClose} />}
      {asked?.what === 'new codes' && <NewCodes onClose={onClose} onCodes={(codes) => setAsked({ what: 'codes', codes })} />}
      {asked?.what === 'codes' && <BackupCodes codes={asked.codes} onClose={onClose} />}
    </Section>
  );
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const readAgain = useReadUserAgain();
  const { task, fields } = useProof('disable', async () => {
    await readAgain();
    onClose();
  });
  return (
    <FormDialog title={t.account.turnOffTitle} action={t.account.turnOff} task={task} onClose={onClose} isDangerous>
      <Text>{t.account.turnOffText}</Text>
      {fields}
    </FormDialog>
  );
}

function NewCodes({ onClose, onCodes }: { onClose: () => void; onCodes: (codes: string[]) => void }) {
  const { task, fields } = useProof('generate-backup-codes', async (answer) => onCodes((answer as { backupCodes: string[] }).backupCodes));
  return (
    <FormDialog title={t.account.newCodes} action={t.start.create} task={task} onClose={onClose}>
      <Text>{t.account.newCodesText}</Text>
      {fields}
    </FormDialog>
  );
}

/** Asks for the password, and also for a code if the second factor was turned on in another session. */
function useProof(endpoint: string, onDone: (answer: unknown) => Promise<void>) {
  const [asksCode, setAsksCode] = useState(false);
  const task: FormTask = async ({ password, code }) => {
    const body = { password, ...(code && { code: code.replaceAll(' ', '') }) };
    const answer = await ask(auth.$fetch(`/two-factor/${endpoint}`, { method: 'POST', body })).catch((failure: unknown) => {
      if (failure instanceof SheafError && failure.code === 'CODE_REQUIRED') setAsksCode(true);
      throw failure;
    });
    await onDone(answer);
  };
  const fields = (
    <>
      <PasswordField label={t.account.current} />
      {asksCode && (
        <TextInput
          label={t.twoFactor.code}
          description={t.twoFactor.hint}
          name="code"
          required
          autoFocus
          autoComplete="one-time-code"
          maxLength={20}
        />
      )}
    </>
  );
  return { task, fields };
}
