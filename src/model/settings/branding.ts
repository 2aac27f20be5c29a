import { color, text, url } from '../text-kinds.ts';
import { setting } from './setting.ts';

export const brandingSettings = {
  product_name: setting(text(1, 60), {
    group: 'Branding',
    label: 'Product name',
    description: 'The name on the pages and in mails.',
    absent: 'Latchkey',
    mayShutOut: false,
  }),
  logo_url: setting(url, {
    group: 'Branding',
    label: 'Logo by address',
    description:
      'No longer shown: pages load nothing from elsewhere. Upload the logo on the page Branding instead.',
    absent: '',
    mayShutOut: false,
  }),
  accent_color: setting(color, {
    group: 'Branding',
    label: 'Accent colour',
    description: 'The colour of buttons and links, where the page Branding has none.',
    absent: '#1f6f5c',
    mayShutOut: false,
  }),
  support_url: setting(url, {
    group: 'Branding',
    label: 'Help page',
    description: 'Where people find help.',
    absent: '',
    mayShutOut: false,
  }),
  privacy_url: setting(url, {
    group: 'Branding',
    label: 'Privacy notice',
    description: 'The privacy notice.',
    absent: '',
    mayShutOut: false,
  }),
  terms_url: setting(url, {
    group: 'Branding',
    label: 'Terms of service',
    description: 'The terms of service.',
    absent: '',
    mayShutOut: false,
  }),
};
