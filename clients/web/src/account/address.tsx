import { Alert, Stack, Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { SendMail } from '../components/sign-in-form.tsx';
import type { FormTask } from '../components/use-form-task.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Form, Section } from './section.tsx';
import { useUser } from './user.ts';

const route = getRouteApi('/o/$organization/$workspace/account');

/** Another address takes a link in a mail to the present one, and then a link in a mail to the new one. */
export function Address() {
  const { email, emailVerified } = useUser();
  const { error, said } = route.useSearch();
  return (
    <Section title={t.sign.email}>
      <Stack gap="md" align="flex-start">
        <Text className="foreign">{t.account.emailNow(email)}</Text>
        {said && !error && (
          <Alert variant="default" role="status">
            {t.account.linkWorked}
          </Alert>
        )}
        {!emailVerified && (
          <>
            <Text>{t.account.unverified}</Text>
            <SendMail email={email} isFirst />
          </>
        )}
      </Stack>
      {emailVerified && <Change />}
    </Section>
  );
}

function Change() {
  const change: FormTask = ({ email = '' }) =>
    ask(auth.changeEmail({ newEmail: email, callbackURL: `${window.location.pathname}?said=email` }));
  return (
    <Form task={change} action={t.account.changeEmail} done={t.account.emailAsked}>
      <TextInput
        mt="md"
        label={t.account.newEmail}
        description={t.account.emailHint}
        name="email"
        type="email"
        required
        autoComplete="email"
      />
    </Form>
  );
}
