package tlsca

import (
	"crypto/x509"
	"net"
	"slices"
	"strings"

	"minibus/internal/hostname"
)

// public are top-level domains under which strangers have names; the authority's own certificate says that it signs none there, so that
// a stolen key opens none of those to its thief. Names can only be excluded: a list of permitted ones would have to know the aliases
// of all containers to come. Under net the service has its names, so that one can't be excluded.
var public = strings.Fields(`com org edu gov mil int info biz name pro mobi app dev cloud online site store shop tech xyz top club live page
	bank blog email work world today agency news digital services solutions network systems media group company
	ae ar at au be bg br ca ch cl cn co cz de dk ee es eu fi fr gr hk hr hu id ie il in io ir is it jp ke kr kz lt lu lv ma me mx my
	ng nl no nz pe ph pk pl pt ro rs ru sa se sg si sk th tr tv tw ua uk us uy ve vn za ai to gg ly cc sh fm`)

// constrain writes into the certificate of a new authority which names it may sign: addresses of private networks, names outside of
// the public domains, and what it is told.
func constrain(cert *x509.Certificate, names []string) {
	for _, p := range hostname.Private {
		bits := p.Addr().BitLen()
		cert.PermittedIPRanges = append(cert.PermittedIPRanges, &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), bits)})
	}
	excluded := slices.Clone(public)
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			if four := ip.To4(); four != nil {
				ip = four
			}
			cert.PermittedIPRanges = append(cert.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
			continue
		}
		top := strings.ToLower(name[strings.LastIndex(name, ".")+1:])
		excluded = slices.DeleteFunc(excluded, func(domain string) bool { return domain == top })
	}
	cert.ExcludedDNSDomains, cert.PermittedDNSDomainsCritical = excluded, true
}

// maySign reports whether the authority's certificate allows it to sign a name. Authorities that were made before there were
// constraints may sign any.
func (a *Authority) maySign(name string) bool {
	if ip := net.ParseIP(name); ip != nil {
		return len(a.cert.PermittedIPRanges) == 0 ||
			slices.ContainsFunc(a.cert.PermittedIPRanges, func(r *net.IPNet) bool { return r.Contains(ip) })
	}
	return !slices.ContainsFunc(a.cert.ExcludedDNSDomains, func(domain string) bool {
		return name == domain || strings.HasSuffix(name, "."+domain)
	})
}
