// What a username must be where its owner chooses it alone (UTS #39 §4, §5.2, §5.3; decision 0014).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfChosenUsername } from '../../src/accounts/chosen-username.ts';
import { reservedNames } from '../../src/model/reserved-names.ts';
import { looksLike } from '../../src/skeleton.ts';

const problem = (name: string, product = 'Acme Works'): string | undefined =>
  problemOfChosenUsername(name, [product]);
const RESERVED = 'This name is reserved. Choose another one.';
const ALPHABET = 'Must have letters and digits of one alphabet in common use.';

const names = [
  ...[
    'alice',
    'Ali',
    'ali.baba',
    'Allana',
    'o-neill_77',
    'user7421',
    'test.anna',
    '12345',
    'rooted',
    'administrata',
    'supporter',
    'mathis',
  ],
  ...['léa.dupont', 'müller', 'søren', 'łukasz', 'Þórr', 'İpek', 'ñandú', 'nguyễn'],
  ...[
    'иван',
    'Ольга_1987',
    'γιώργος',
    'Αλέξης',
    'Արամ',
    'გიორგი',
    'יעל',
    'محمد',
    'مشرف',
    'فاطمة۳',
    'अर्जुन',
    'สมชาย',
    'ཚེརིང',
  ],
  ...[
    '山田太郎',
    'やまだ',
    'ヤマダ',
    'taro山田',
    'さくらSAKURA',
    '김민수',
    'minsu김',
    '王小明',
    'ㄅㄆㄇ王a',
    'ታደሰ',
  ],
  ...['root@example.com', 'support@example.com', 'admin@münchen.example'],
];

test('chosen username: names of people in their own letters, and addresses, are accepted', () => {
  for (const name of names) assert.equal(problem(name), undefined, name);
});

const mixtures: Readonly<Record<string, string>> = {
  'Latin and Cyrillic': 'pаypal',
  'Latin and Greek': 'αlice',
  'Latin and Armenian': 'bօb-the-builder',
  'Latin and Hebrew': 'davidד',
  'Latin and Arabic': 'omarعمر',
  'Cyrillic and Greek': 'иванα',
  'Han and Cyrillic': '山田иван',
  'Hangul and Hiragana': '김やま',
  'Hangul and Katakana with Latin': 'a김ヤ',
  'Bopomofo and Hiragana': 'ㄅㄆやま',
  'digits of two systems': 'omar1۲',
  'digits of two systems of one script': 'عمر١۲',
  'digits of another script': 'alice৪',
  'a script that is not in common use (UAX #31 Table 4)': 'ᚠᚢᚦ',
  'a script of limited use that looks Latin (UAX #31 Table 7)': 'ᎪᏞᏆᏟᎬ',
  'Lisu that looks Latin': 'ꓡꓲꓢꓮ',
};

test('attack: usernames that mix alphabets or numbers are refused (UTS #39 §5.2, §5.3)', () => {
  for (const [about, name] of Object.entries(mixtures)) assert.equal(problem(name), ALPHABET, about);
});

const lookalikes = [
  ...[
    'root',
    'ROOT',
    'r00t',
    'R-o-o-t',
    'root1',
    '1root',
    'root_',
    'rööt',
    'ｒｏｏｔ',
    'ʀᴏᴏᴛ',
    'ꜱuppᴏʀt',
    'гоот',
  ],
  ...['admin', 'Admin.1', 'adm1n', 'ɑdmin', 'admın', 'ADMİN', 'adrnin', 'admín', 'administrator'],
  ...[
    'support',
    'support-team',
    'it.support',
    'admin_support_2',
    'postmaster',
    'no-reply',
    'mailer-daemon',
    'security',
  ],
  ...[
    'latchkey',
    'Latchkey',
    'latchkey-support',
    'latchkeysupport',
    'supportlatchkey',
    'Iatchkey',
    'latchkey_1',
    'ʟatchkey',
  ],
  ...['acmeworks', 'acme-works', 'Acme.Works', 'acmew0rks', 'acmeworkssupport', 'admin.acmeworks'],
  ...[
    'administrateur',
    'sécurité',
    'soporte',
    'suporte',
    'segurança',
    'kundendienst',
    '管理者',
    'サポート',
    'ｻﾎﾟｰﾄ',
    'المدير',
    'الدعم',
  ],
];

const strangers = [
  // Signs that are letters to Unicode.
  ...['adminʼ', 'ʼadmin', 'adminː', 'adʹmin'],
  // Letters that only look the same, and digits for letters.
  ...['аԁміп', 'ɾoot', 'ɽooʈ', '4dmin', 'roo7', 'suppor7', '4dm1n1s7r4t0r'],
  // Without a sign between.
  ...['supportteam', 'adminteam', 'rootroot', 'securitysupport', 'teamadmin'],
  // In other languages.
  ...['админ', 'Администратор', 'поддержка', 'адмін', '管理员', '관리자', 'アドミン'],
];

test('attack: usernames as the system’s by signs, phonetic letters, digits, joined words', () => {
  for (const name of strangers) if (name.length >= 3) assert.equal(problem(name), RESERVED, name);
  assert.equal(problem('acmesupport', 'Acme'), RESERVED);
  assert.equal(problem('supportacme', 'Acme'), RESERVED);
  for (const name of ['stateam', 'hermod', 'acmeit', 'pacesupportive', 'adminka-lena', 'steam', 'newsham'])
    assert.equal(problem(name, 'Her'), undefined, name);
});

test('attack: usernames that read as the system’s, by how they look (UTS #39 §4)', () => {
  for (const name of lookalikes) assert.equal(problem(name), RESERVED, name);
  for (const name of reservedNames.filter((one) => one.length >= 3))
    assert.equal(problem(name), RESERVED, name);
});

test('chosen username: the name of this installation is what it is called now', () => {
  assert.equal(problem('globex', 'Globex'), RESERVED);
  assert.equal(problem('globex'), undefined);
  assert.equal(problem('acme.works.fan', 'Acme Works'), undefined);
  // A short or empty one takes no part of other names.
  assert.equal(problem('ida', 'ID'), undefined);
  assert.equal(problem('alice', ''), undefined);
  assert.equal(problem('alice', '!!!'), undefined);
});

test('chosen username: what is no username at all is said first', () => {
  assert.equal(problem('ab'), 'Must have 3 to 64 characters.');
  assert.equal(problem('root root'), 'May only contain letters, digits and the characters . _ - @ +.');
  assert.equal(problem('ro\u200bot'), 'Must not contain invisible or control characters.');
});

test('reserved names: none is written twice, as people read them', () => {
  const twice = reservedNames.filter((name, at) =>
    reservedNames.slice(0, at).some((other) => looksLike(name, other)),
  );
  assert.deepEqual(twice, []);
});
