package telegram

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/mac"
)

// An action is what a button does. Its value is part of messages that people have, so it
// must not change.
type action byte

const (
	choose   action = 'c' // option N is the answer to the question
	mark     action = 'm' // option N is one of the answers; pressing it again changes nothing
	unmark   action = 'u' // option N is not one of the answers
	goTo     action = 'g' // show question N; after the last one is the overview
	leaveOut action = 'x' // leave the question out
	submit   action = 's' // send the answers
	approve  action = 'a' //
	deny     action = 'd' //
	locate   action = 'l' // show where the message of the ask is

	// The person writes a text, as a reply to the message that asks for it.
	writeOther  action = 'o'
	writeNotes  action = 'n'
	writeReason action = 'r'
)

// A press is the content of a button or of a prompt: everything that is needed to act on it
// after a restart. It says what to set, not what to toggle, so that it can be repeated.
type press struct {
	Action    action
	AskID     string
	MessageID int64 // of the message about the ask
	Question  int
	Option    int
}

// codeLength is the number of bytes of the code that signs a press. 80 bits cannot be guessed
// over the network, and leave the data shorter than the 64 bytes that Telegram allows.
const codeLength = 10

// errForged is returned for data that this program did not make for this chat.
var errForged = errors.New("this data was not made for this chat, or with another token")

// A signer makes the data of buttons. Its key is the token of the bot, so buttons work after a
// restart, and with the token of another bot they do not.
type signer struct{ key []byte }

func newSigner(token string) signer { return signer{[]byte(token)} }

// code returns the code of a content in a chat.
func (s signer) code(chatID int64, content []byte) []byte {
	return mac.Sum(s.key, "telegram button", strconv.FormatInt(chatID, 10), string(content))[:codeLength]
}

// oldCode returns the code of a content in a chat as earlier releases made it. Their buttons are in chats
// as long as the asks are open, which may be weeks.
func (s signer) oldCode(chatID int64, content []byte) []byte {
	text := append(binary.BigEndian.AppendUint64(nil, uint64(chatID)), content...)
	return mac.Bare(mac.Bare(s.key, "askback: data of buttons"), string(text))[:codeLength]
}

// sign returns the data of a press in a chat: at most 64 characters of A-Z, a-z, 0-9, _ and -,
// which are also allowed in a link that starts the bot.
func (s signer) sign(chatID int64, p press) string {
	id, ok := ids.Bytes(ids.Ask, p.AskID)
	if !ok {
		return ""
	}
	b := append([]byte{byte(p.Action)}, id[:]...)
	b = append(b, byte(p.Question), byte(p.Option))
	b = binary.AppendUvarint(b, uint64(p.MessageID))
	b = append(b, s.code(chatID, b)...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// fixedLength is the number of bytes of a press before the id of its message.
const fixedLength = 1 + 16 + 2

// verify returns the press of data that came from a chat.
func (s signer) verify(chatID int64, data string) (press, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(data)
	if err != nil || len(b) < fixedLength+1+codeLength {
		return press{}, errForged
	}
	content, code := b[:len(b)-codeLength], b[len(b)-codeLength:]
	if !hmac.Equal(code, s.code(chatID, content)) && !hmac.Equal(code, s.oldCode(chatID, content)) {
		return press{}, errForged
	}
	n, length := binary.Uvarint(content[fixedLength:])
	if length != len(content)-fixedLength {
		return press{}, errForged
	}
	return press{
		Action: action(content[0]), AskID: ids.FromBytes(ids.Ask, [16]byte(content[1:17])), MessageID: int64(n),
		Question: int(content[17]), Option: int(content[18]),
	}, nil
}
