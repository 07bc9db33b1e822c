import { TextInput } from '@mantine/core';
import type { FormTask } from '../components/use-form-task.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Form, Section } from './section.tsx';
import { useReadUserAgain, useUser } from './user.ts';

export function Profile() {
  const user = useUser();
  const readAgain = useReadUserAgain();
  const save: FormTask = async ({ name = '' }) => {
    await ask(auth.updateUser({ name }));
    await readAgain();
  };
  return (
    <Section title={t.account.profile}>
      <Form task={save} action={t.common.save} done={t.account.saved}>
        <TextInput label={t.sign.name} name="name" required maxLength={120} autoComplete="name" defaultValue={user.name} />
      </Form>
    </Section>
  );
}
