import { NativeSelect, SegmentedControl, Table, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { adminAuth } from '../../admin-auth.ts';
import { type ListedUser, usersQuery } from '../../admin-queries.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Paged } from '../../components/paged.tsx';
import { QueryForm } from '../../components/query-form.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { Rows } from '../../components/rows.tsx';
import { StateMark } from '../../components/state-mark.tsx';
import { TimeCell } from '../../components/time.tsx';
import type { FormTask } from '../../components/use-form-task.ts';
import { ask } from '../../service.ts';
import { formatRelative, t } from '../../text.ts';

const route = getRouteApi('/admin/users');

/** Every user of the deployment. */
export default function Users() {
  const { q, by = 'email' } = route.useSearch();
  const users = useInfiniteQuery(usersQuery(q, by));
  const items = users.data?.pages.flatMap((page) => page.users) ?? [];
  return (
    <>
      <PageHead title={t.admin.pages.users} />
      <Search />
      <Paged query={users} isEmpty={items.length === 0} empty={<Empty text={t.admin.noneFound} />}>
        <UserTable items={items} />
      </Paged>
    </>
  );
}

function Search() {
  const { q, by = 'email' } = route.useSearch();
  const navigate = useNavigate({ from: '/admin/users' });
  return (
    <QueryForm
      label={t.admin.findUser}
      placeholder=""
      submit={t.admin.find}
      q={q}
      isOptional
      onAsk={(asked) => void navigate({ search: { q: asked || undefined, by } })}
    >
      <SegmentedControl
        size="xs"
        aria-label={t.admin.findBy}
        data={[
          { value: 'email', label: t.sign.email },
          { value: 'name', label: t.documents.name },
        ]}
        value={by}
        onChange={(value) => void navigate({ search: { q, by: value as typeof by }, replace: true })}
      />
    </QueryForm>
  );
}

function UserTable({ items }: { items: ListedUser[] }) {
  const [asked, setAsked] = useState<{ what: 'ban' | 'impersonate'; user: ListedUser }>();
  const onClose = () => setAsked(undefined);
  return (
    <>
      <Rows heads={[t.documents.name, t.jobs.state, t.common.created, { number: t.common.actions }]}>
        {items.map((user) => (
          <UserRow key={user.id} user={user} onAsk={(what) => setAsked({ what, user })} />
        ))}
      </Rows>
      {asked?.what === 'ban' && <Ban user={asked.user} onClose={onClose} />}
      {asked?.what === 'impersonate' && <Impersonate user={asked.user} onClose={onClose} />}
    </>
  );
}

function UserRow({ user, onAsk }: { user: ListedUser; onAsk: (what: 'ban' | 'impersonate') => void }) {
  const { user: self } = route.useRouteContext();
  const { id, name, email, role, banned, createdAt } = user;
  return (
    <Table.Tr>
      <Table.Td>
        <Foreign fw={550}>{id === self.id ? `${name} (${t.members.you})` : name}</Foreign>
        <Foreign c="dimmed">{email}</Foreign>
      </Table.Td>
      <Table.Td>
        <UserState user={user} />
      </Table.Td>
      <TimeCell at={createdAt} />
      <Table.Td className="number">
        {id !== self.id && (
          <RowMenu
            name={name}
            changes={['admin', 'users']}
            actions={[
              role !== 'admin' && !banned && { label: t.admin.impersonate, run: () => onAsk('impersonate') },
              banned
                ? { label: t.admin.unban, run: () => ask(adminAuth.admin.unbanUser({ userId: id })) }
                : { label: t.admin.ban, isDangerous: true, run: () => onAsk('ban') },
            ]}
          />
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function UserState({ user: { role, banned, banReason, banExpires } }: { user: ListedUser }) {
  if (!banned)
    return <StateMark tone={role === 'admin' ? 'busy' : 'good'}>{role === 'admin' ? t.admin.platformAdmin : t.admin.active}</StateMark>;
  return (
    <>
      <StateMark tone="bad">{t.admin.banned}</StateMark>
      {banExpires && <Text c="dimmed">{t.admin.banEnds(formatRelative(new Date(banExpires).toISOString()))}</Text>}
      {banReason && <Foreign c="dimmed">{banReason}</Foreign>}
    </>
  );
}

function Ban({ user: { id, name }, onClose }: { user: ListedUser; onClose: () => void }) {
  const task: FormTask = async ({ reason = '', seconds = '' }) => {
    const given = { ...(reason.trim() ? { banReason: reason.trim() } : {}), ...(seconds ? { banExpiresIn: Number(seconds) } : {}) };
    await ask(adminAuth.admin.banUser({ userId: id, ...given }));
  };
  const lengths = Object.entries(t.admin.banLengths).map(([value, label]) => ({ value, label }));
  return (
    <FormDialog title={t.admin.banTitle(name)} action={t.admin.ban} task={task} changes={['admin', 'users']} onClose={onClose}>
      <Text>{t.admin.banText}</Text>
      <TextInput label={t.keeping.reason} name="reason" maxLength={200} />
      <NativeSelect label={t.admin.banLength} name="seconds" data={[...lengths, { value: '', label: t.admin.forEver }]} />
    </FormDialog>
  );
}

function Impersonate({ user: { id, name }, onClose }: { user: ListedUser; onClose: () => void }) {
  return (
    <Confirm
      title={t.admin.impersonateTitle(name)}
      text={t.admin.impersonateText}
      action={t.admin.impersonate}
      task={() => ask(adminAuth.admin.impersonateUser({ userId: id }))}
      changes={['none']}
      onClose={onClose}
      // From a fresh page: nothing of the admin stays in memory.
      onDone={() => window.location.assign('/')}
    />
  );
}
