import { Button, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { canCopy } from '../clipboard.ts';
import { Confirm } from '../components/confirm.tsx';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Foreign } from '../components/foreign.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Lacks } from '../components/lacks.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { Teams } from '../components/teams.tsx';
import { TimeCell } from '../components/time.tsx';
import { Subtitle } from '../components/titles.tsx';
import { type Invitation, invitationsQuery, type Member, membersQuery } from '../member-queries.ts';
import { queryClient } from '../queries.ts';
import { type Role, roleIn } from '../roles.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/members');

/** Who belongs to the organization and as what, and who is invited. */
export default function Members() {
  const { isAdmin } = route.useRouteContext();
  const [isInviting, setIsInviting] = useState(false);
  return (
    <>
      <PageHead title={t.nav.pages.members}>{isAdmin && <Button onClick={() => setIsInviting(true)}>{t.members.invite}</Button>}</PageHead>
      <Text c="dimmed" mb="md">
        {t.members.rolesHint}
      </Text>
      <Lacks permission="invitation:create" />
      <MemberList />
      {isAdmin && <Invitations />}
      <Teams />
      {isInviting && <Invite onClose={() => setIsInviting(false)} />}
    </>
  );
}

function MemberList() {
  const { organization, isAdmin } = route.useRouteContext();
  const members = useInfiniteQuery(membersQuery(organization.id));
  const [leaving, setLeaving] = useState<Member>();
  const items = members.data?.pages.flatMap((page) => page.members) ?? [];
  return (
    <>
      <Paged query={members} isEmpty={items.length === 0} empty={null}>
        <Rows heads={[t.documents.name, t.members.role, t.members.joined, { number: t.common.actions }]}>
          {items.map((member) => (
            <MemberRow key={member.id} member={member} canChange={isAdmin} onLeave={() => setLeaving(member)} />
          ))}
        </Rows>
      </Paged>
      {leaving && <Leave member={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

function MemberRow({ member, canChange, onLeave }: { member: Member; canChange: boolean; onLeave: () => void }) {
  const { user, isOwner } = route.useRouteContext();
  const isSelf = member.userId === user.id;
  const mayChange = canChange && (isOwner || roleIn(member.role) !== 'owner');
  return (
    <Table.Tr>
      <Table.Td>
        <Foreign fw={550}>{isSelf ? `${member.user.name} (${t.members.you})` : member.user.name}</Foreign>
        <Foreign c="dimmed">{member.user.email}</Foreign>
      </Table.Td>
      <Table.Td>{mayChange ? <RoleChoice member={member} /> : t.members.roles[roleIn(member.role)]}</Table.Td>
      <TimeCell at={member.createdAt} label={t.members.joined} />
      <Table.Td className="number">
        <RowMenu
          name={member.user.name}
          actions={[(mayChange || isSelf) && { label: isSelf ? t.members.leave : t.common.remove, isDangerous: true, run: onLeave }]}
        />
      </Table.Td>
    </Table.Tr>
  );
}

function RoleChoice({ member }: { member: Member }) {
  const { organization, user, isOwner } = route.useRouteContext();
  const router = useRouter();
  const [asked, setAsked] = useState<Role>();
  const isSelf = member.userId === user.id;
  const held = roleIn(member.role);
  const change = async (role: Role) => {
    await ask(auth.organization.updateMemberRole({ memberId: member.id, role, organizationId: organization.id }));
    if (!isSelf) return;
    // What the pages offer depends on it.
    await queryClient.invalidateQueries({ queryKey: ['role'] });
    await router.invalidate();
  };
  const { mutate, isPending, error } = useMutation({
    mutationFn: change,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['members'] }),
  });
  // An arrow key is enough to choose: what may not be taken back is asked before.
  const choose = (role: Role) => (isSelf || [held, role].includes('owner') ? setAsked(role) : mutate(role));
  return (
    <Stack gap="xs">
      <NativeSelect
        size="xs"
        aria-label={t.members.roleOf(member.user.name)}
        data={roleOptions(isOwner)}
        value={held}
        disabled={isPending}
        onChange={({ currentTarget: { value } }) => choose(value as Role)}
      />
      <Failure error={error} />
      {asked && (
        <Confirm
          title={t.members.changeRoleTitle(member.user.name, t.members.roles[asked])}
          text={isSelf ? t.members.changeOwnRoleText : t.members.changeRoleText}
          action={t.members.changeRole}
          task={() => change(asked)}
          changes={['members']}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Stack>
  );
}

/** The roles that somebody may give: only owners decide who is an owner. */
const roleOptions = (isOwner: boolean) =>
  Object.entries(t.members.roles)
    .filter(([role]) => isOwner || role !== 'owner')
    .map(([value, label]) => ({ value, label }));

function Leave({ member, onClose }: { member: Member; onClose: () => void }) {
  const { organization, user } = route.useRouteContext();
  const organizationId = organization.id;
  if (member.userId === user.id)
    return (
      <Confirm
        title={t.members.leaveTitle(organization.name)}
        text={t.members.leaveText}
        action={t.members.leave}
        task={() => ask(auth.organization.leave({ organizationId }))}
        changes={['session']}
        onClose={onClose}
        onDone={() => window.location.assign('/')}
      />
    );
  return (
    <Confirm
      title={t.members.removeTitle(member.user.name)}
      text={t.members.removeText}
      action={t.common.remove}
      task={() => ask(auth.organization.removeMember({ memberIdOrEmail: member.id, organizationId }))}
      changes={['members']}
      onClose={onClose}
    />
  );
}

function Invitations() {
  const { organization } = route.useRouteContext();
  const invitations = useQuery(invitationsQuery(organization.id));
  return (
    <>
      <Subtitle>{t.members.invitations}</Subtitle>
      <Loaded query={invitations}>
        {(items) => (items.length === 0 ? <Empty text={t.members.noInvitations} /> : <InvitationTable items={items} />)}
      </Loaded>
    </>
  );
}

function InvitationTable({ items }: { items: Invitation[] }) {
  return (
    <Rows heads={[t.sign.email, t.members.role, t.members.expires, { number: t.common.actions }]}>
      {items.map(({ id, email, role, expiresAt }) => (
        <Table.Tr key={id}>
          <Table.Td className="foreign">{email}</Table.Td>
          <Table.Td>{t.members.roles[roleIn(role)]}</Table.Td>
          <TimeCell at={expiresAt} label={t.members.expires} />
          <Table.Td className="number">
            <RowMenu
              name={email}
              changes={['invitations']}
              actions={[
                canCopy && { label: t.members.copyLink, run: () => navigator.clipboard.writeText(linkTo(id)), done: t.common.copied },
                { label: t.members.withdraw, run: () => ask(auth.organization.cancelInvitation({ invitationId: id })) },
              ]}
            />
          </Table.Td>
        </Table.Tr>
      ))}
    </Rows>
  );
}

/** The page where an invitation is answered, as its mail has it. */
const linkTo = (id: string) => `${window.location.origin}/accept-invitation/${id}`;

function Invite({ onClose }: { onClose: () => void }) {
  const { organization, isOwner } = route.useRouteContext();
  const invite = async ({ email = '', role = 'member' }: Record<string, string>) => {
    await ask(auth.organization.inviteMember({ email, role: role as Role, organizationId: organization.id }));
  };
  return (
    <FormDialog title={t.members.inviteTitle} action={t.members.send} task={invite} changes={['invitations']} onClose={onClose}>
      <Text>{t.members.inviteHint}</Text>
      <TextInput label={t.sign.email} name="email" type="email" required autoComplete="off" />
      <NativeSelect label={t.members.role} name="role" data={roleOptions(isOwner)} defaultValue="member" />
    </FormDialog>
  );
}
