package entra

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"

	"minibus/internal/tlsca"
)

// KeyFile is the file of the key, beside those of the certificate authority; only its owner may read it.
const KeyFile = "minibus-identity.key"

const (
	blockKey = "PRIVATE KEY"
	keyBits  = 2048
)

// Key signs tokens. It also yields the identity secret, so one file has both.
type Key struct {
	private *rsa.PrivateKey
	id      string
	secret  string
}

// NewKey makes a key that ends with the process. It takes a tenth of a second, so make it only for who needs it.
func NewKey() (*Key, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("make the key for identity tokens: %w", err)
	}
	return keyOf(private)
}

// OpenKey reads the key of a directory, or makes and stores one. Several processes may call it at once and get the same
// key.
func OpenKey(dir string) (*Key, error) {
	path := filepath.Join(dir, KeyFile)
	for range 2 {
		text, err := os.ReadFile(path)
		if err == nil {
			return parseKey(path, text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the key for identity tokens: %w", err)
		}
		if err := storeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("store the key for identity tokens: %w", err)
		}
	}
	return nil, fmt.Errorf("the key for identity tokens, %s, disappears again and again: another program removes it",
		path)
}

func storeKey(path string) error {
	k, err := NewKey()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return fmt.Errorf("encode the key: %w", err)
	}
	return tlsca.WriteNew(path, pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: der}), 0o600)
}

func parseKey(path string, text []byte) (*Key, error) {
	broken := func(why string) error {
		return fmt.Errorf("read the key for identity tokens %s: %s; remove it to have a new one made", path, why)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != blockKey {
		return nil, broken("it holds no PEM block of a key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, broken(err.Error())
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok || private.N.BitLen() < keyBits {
		return nil, broken("it is no RSA key of 2048 bits or more")
	}
	return keyOf(private)
}

// keyOf derives the id from the public half, and the secret from the private one.
func keyOf(private *rsa.PrivateKey) (*Key, error) {
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode the key for identity tokens: %w", err)
	}
	id := sha256.Sum256(public)
	secret := hmac.New(sha256.New, private.D.Bytes())
	secret.Write([]byte("minibus identity secret"))
	return &Key{
		private: private,
		id:      base64.RawURLEncoding.EncodeToString(id[:16]),
		secret:  base64.RawURLEncoding.EncodeToString(secret.Sum(nil)[:24]),
	}, nil
}

// Bond returns what ties a token to a text without telling it: nobody can try out texts without the key.
func (k *Key) Bond(text string) string {
	sum := hmac.New(sha256.New, k.private.D.Bytes())
	sum.Write([]byte("minibus bond " + text))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// Secret returns the identity secret: whoever shows it gets tokens where tokens are checked.
func (k *Key) Secret() string { return k.secret }

// JWK is the public half of a key [RFC 7517].
type JWK struct {
	Type      string `json:"kty"`
	Use       string `json:"use"`
	Algorithm string `json:"alg,omitempty"`
	ID        string `json:"kid"`
	Modulus   string `json:"n"`
	Exponent  string `json:"e"`
}

// Public returns the key for those who check tokens.
func (k *Key) Public() JWK {
	return JWK{"RSA", "sig", algorithm, k.id,
		base64.RawURLEncoding.EncodeToString(k.private.N.Bytes()),
		base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.private.E)).Bytes())}
}

// key returns the public key that a JWK describes.
func (j JWK) key() (*rsa.PublicKey, error) {
	n, err := base64.RawURLEncoding.DecodeString(j.Modulus)
	if err != nil {
		return nil, fmt.Errorf("read the modulus: %w", err)
	}
	e, err := base64.RawURLEncoding.DecodeString(j.Exponent)
	exponent := new(big.Int).SetBytes(e)
	switch public := (&rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}); {
	case err != nil || exponent.BitLen() > 31 || public.E < 3:
		return nil, errors.New("the exponent of a key is none")
	case public.N.BitLen() < keyBits || public.N.BitLen() > 4*keyBits:
		return nil, fmt.Errorf("a key has %d bits; allowed: 2048 to 8192", public.N.BitLen())
	default:
		return public, nil
	}
}
