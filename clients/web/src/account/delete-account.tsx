import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../components/form-dialog.tsx';
import { PasswordField } from '../components/password-field.tsx';
import { TypedAgain } from '../components/typed-again.tsx';
import type { FormTask } from '../components/use-form-task.ts';
import { leave } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Section } from './section.tsx';
import { useHasPassword, useUser } from './user.ts';

export function DeleteAccount() {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <Section title={t.account.deleteTitle}>
      <Text mb="md">{t.account.deleteText}</Text>
      <Button variant="default" onClick={() => setIsAsked(true)}>
        {t.account.deleteTitle}
      </Button>
      {isAsked && <Asked onClose={() => setIsAsked(false)} />}
    </Section>
  );
}

function Asked({ onClose }: { onClose: () => void }) {
  const { email } = useUser();
  const hasPassword = useHasPassword();
  const task: FormTask = async ({ password }) => {
    await ask(auth.deleteUser(password ? { password } : {}));
    leave('/sign-in?said=deleted');
  };
  return (
    <FormDialog title={t.account.deleteAsked} action={t.common.delete} task={task} onClose={onClose} isDangerous>
      <Text>{t.account.deleteText}</Text>
      <TypedAgain text={email} label={t.account.typeEmail} />
      {hasPassword && <PasswordField label={t.account.current} />}
    </FormDialog>
  );
}
