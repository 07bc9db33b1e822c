import { Checkbox, Text } from '@mantine/core';
import { LinkTo } from '../components/link-to.tsx';
import { PasswordField } from '../components/password-field.tsx';
import type { FormTask } from '../components/use-form-task.ts';
import { queryClient } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Form, Section } from './section.tsx';
import { useHasPassword } from './user.ts';

export function Password() {
  const hasPassword = useHasPassword();
  const change: FormTask = async ({ current = '', password = '', others }) => {
    await ask(auth.changePassword({ currentPassword: current, newPassword: password, revokeOtherSessions: others !== undefined }));
    await queryClient.invalidateQueries({ queryKey: ['sessions'] });
  };
  return (
    <Section title={t.sign.password}>
      {hasPassword === false ? (
        <NoPassword />
      ) : (
        <Form task={change} action={t.account.change} done={t.account.changed}>
          <PasswordField label={t.account.current} name="current" />
          <PasswordField label={t.reset.password} isNew />
          <Checkbox name="others" label={t.account.others} defaultChecked />
        </Form>
      )}
    </Section>
  );
}

/** For those who have signed up by a provider. */
export function NoPassword() {
  return (
    <Text>
      {t.account.noPassword}{' '}
      <LinkTo to="/forgot-password" size="sm">
        {t.reset.setTitle}
      </LinkTo>
    </Text>
  );
}
