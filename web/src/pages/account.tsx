import { Button, Checkbox, Paper, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { TaskButton } from '../parts/task-button.tsx';
import { Time } from '../parts/time.tsx';
import { type FormTask, useFormTask } from '../parts/use-form-task.ts';
import { queryClient, sessionQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/account');

/** What belongs to the user alone: name, password, sessions. */
export default function Account() {
  return (
    <>
      <PageHead title={t.account.title} />
      <Stack gap="lg">
        <Profile />
        <Password />
        <Sessions />
      </Stack>
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section">
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

interface FormProps {
  task: FormTask;
  action: string;
  /** What is said once it has worked. */
  done: string;
  children: ReactNode;
}

function Form({ task, action, done, children }: FormProps) {
  const { onSubmit, isPending, isSuccess, error } = useFormTask(task);
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md" align="flex-start" className="form">
        {children}
        <Failure error={error} />
        {isSuccess && (
          <Text size="sm" role="status">
            {done}
          </Text>
        )}
        <Button type="submit" loading={isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}

function Profile() {
  const { user } = route.useRouteContext();
  const router = useRouter();
  const save: FormTask = async ({ name = '' }) => {
    await ask(auth.updateUser({ name }));
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await router.invalidate();
  };
  return (
    <Section title={t.account.profile}>
      <Form task={save} action={t.common.save} done={t.account.saved}>
        <TextInput label={t.account.name} name="name" required maxLength={120} autoComplete="name" defaultValue={user.name} />
        <TextInput label={t.account.email} value={user.email} readOnly />
      </Form>
    </Section>
  );
}

function Password() {
  const change: FormTask = async ({ current = '', password = '', others }) => {
    await ask(auth.changePassword({ currentPassword: current, newPassword: password, revokeOtherSessions: others !== undefined }));
    await queryClient.invalidateQueries({ queryKey: ['sessions'] });
  };
  return (
    <Section title={t.account.password}>
      <Form task={change} action={t.account.change} done={t.account.changed}>
        <PasswordField label={t.account.current} name="current" />
        <PasswordField label={t.account.next} isNew />
        <Checkbox name="others" label={t.account.others} defaultChecked />
      </Form>
    </Section>
  );
}

const listSessions = () => ask(auth.listSessions());
type Session = Awaited<ReturnType<typeof listSessions>>[number];

function Sessions() {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: listSessions });
  const isStale = sessions.error instanceof SheafError && sessions.error.code === 'SESSION_NOT_FRESH';
  return (
    <Section title={t.account.sessions}>
      <Text size="sm" c="dimmed" mb="sm">
        {isStale ? t.account.notFresh : t.account.sessionsHint}
      </Text>
      {!isStale && <Loaded query={sessions}>{(items) => <SessionTable items={items} />}</Loaded>}
    </Section>
  );
}

function SessionTable({ items }: { items: Session[] }) {
  const { data: current } = useQuery(sessionQuery);
  return (
    <>
      <Table verticalSpacing="sm" className="cards">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.account.device}</Table.Th>
            <Table.Th>{t.account.address}</Table.Th>
            <Table.Th>{t.account.lastUsed}</Table.Th>
            <Table.Th className="number">{t.common.actions}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((session) => (
            <SessionRow key={session.id} session={session} isThis={session.id === current?.session.id} />
          ))}
        </Table.Tbody>
      </Table>
      {items.length > 1 && (
        <TaskButton task={() => ask(auth.revokeOtherSessions())} changes={['sessions']}>
          {t.account.endOthers}
        </TaskButton>
      )}
    </>
  );
}

function SessionRow({ session: { token, userAgent, ipAddress, updatedAt }, isThis }: { session: Session; isThis: boolean }) {
  const device = deviceOf(userAgent);
  return (
    <Table.Tr>
      <Table.Td className="foreign">{isThis ? `${device} (${t.account.thisOne})` : device}</Table.Td>
      <Table.Td className="foreign">{ipAddress}</Table.Td>
      <Table.Td data-label={t.account.lastUsed}>
        <Time at={updatedAt} />
      </Table.Td>
      <Table.Td className="number">
        {!isThis && (
          <TaskButton task={() => ask(auth.revokeSession({ token }))} changes={['sessions']} label={t.account.endOne(device)}>
            {t.account.end}
          </TaskButton>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** `Firefox, Linux`: what a browser says of itself, as far as people know it by. */
function deviceOf(userAgent: string | null | undefined): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent ?? '')?.[1];
  const system = /(Windows|Android|iPhone|iPad|Mac OS|Linux)/.exec(userAgent ?? '')?.[1];
  return browser && system ? `${browser}, ${system}` : userAgent?.slice(0, 80) || t.account.unknownDevice;
}
